import { describe, expect, it } from '@jest/globals';
import { type BlockHash, type BlockHeader } from '#libs/domain';
import { finalisedOf, nextStep } from './next-step.js';

const hash = (fork: string, number: number): BlockHash =>
  `0x${fork}${number.toString(16).padStart(63, '0')}` as BlockHash;

const block = (number: number, fork = 'a'): BlockHeader => ({
  number: BigInt(number),
  hash: hash(fork, number),
  parentHash: hash(fork, number - 1),
  timestampSeconds: number * 12,
});

/** An index of the blocks `finalised` to `head` of fork a. */
function index(head: number, finalised?: number): Parameters<typeof nextStep>[0] {
  return {
    head: block(head),
    finalised: finalised === undefined ? undefined : block(finalised),
    hashAt: (number) =>
      number >= BigInt(finalised ?? head) && number <= BigInt(head)
        ? hash('a', Number(number))
        : undefined,
  };
}

describe('nextStep', () => {
  it('reads on where the chain is ahead', () => {
    expect(nextStep(index(100, 90), { latest: block(105), finalised: block(95) })).toEqual({
      kind: 'advance',
      to: 105n,
    });
  });

  it('waits at the same block', () => {
    expect(nextStep(index(100, 90), { latest: block(100), finalised: block(90) })).toEqual({
      kind: 'wait',
    });
  });

  it('sees another hash at the indexed head', () => {
    expect(nextStep(index(100, 90), { latest: block(100, 'b'), finalised: block(90) })).toEqual({
      kind: 'reorganised',
      at: 100n,
    });
  });

  it('does not take a lower head for a reorganisation', () => {
    expect(nextStep(index(100, 90), { latest: block(96), finalised: block(90) })).toEqual({
      kind: 'behind',
      by: 4n,
    });
  });

  it('sees another hash below the indexed head', () => {
    expect(nextStep(index(100, 90), { latest: block(96, 'b'), finalised: block(90) })).toEqual({
      kind: 'reorganised',
      at: 96n,
    });
  });

  it('freezes where the node is below the finalised block, whatever its hash', () => {
    expect(nextStep(index(100, 90), { latest: block(80, 'b'), finalised: block(70, 'b') })).toEqual(
      { kind: 'frozen', finalised: 90n, latest: 80n },
    );
  });

  it('sees that another block became final than the indexed one', () => {
    expect(
      nextStep(index(100, 90), { latest: block(120, 'b'), finalised: block(95, 'b') }),
    ).toEqual({ kind: 'reorganised', at: 95n });
  });

  it('reads on in a backfill far below finality', () => {
    expect(nextStep(index(10, 10), { latest: block(1000), finalised: block(900) })).toEqual({
      kind: 'advance',
      to: 1000n,
    });
  });
});

describe('finalisedOf', () => {
  it('is the head itself while the index is below finality', () => {
    expect(finalisedOf(index(50, 40), { latest: block(100), finalised: block(90) })).toEqual(
      block(50),
    );
  });

  it('never goes back', () => {
    expect(finalisedOf(index(100, 90), { latest: block(101), finalised: block(85) })).toEqual(
      block(90),
    );
  });

  it('moves up with the chain', () => {
    expect(finalisedOf(index(100, 90), { latest: block(101), finalised: block(95) })).toEqual(
      block(95),
    );
  });
});
