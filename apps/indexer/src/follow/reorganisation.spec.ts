/** The next step of the loop, and the fork of a reorganisation. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type BlockHash, type BlockHeader } from '#libs/domain';
import { findFork } from './reorganisation.js';
import { finalisedOf, nextStep } from './next-step.js';

const header = (number: number, fork: string): BlockHeader => ({
  number: BigInt(number),
  hash: `0x${fork}${number}` as BlockHash,
  parentHash: `0x${fork}${number - 1}` as BlockHash,
  timestampSeconds: number,
});

/** A chain that shares its blocks up to `fork` with the index and has `length` blocks. */
const chain =
  (fork: number, length: number) =>
  (numbers: readonly bigint[]): Promise<(BlockHeader | undefined)[]> =>
    Promise.resolve(
      numbers.map((number) =>
        number > BigInt(length)
          ? undefined
          : header(Number(number), number <= BigInt(fork) ? 'a' : 'b'),
      ),
    );

const indexed = (from: number, to: number): BlockHeader[] =>
  Array.from({ length: to - from + 1 }, (_, index) => header(from + index, 'a'));

describe('findFork', () => {
  it('finds the newest shared block at any depth above the finalised one', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 300 }),
        fc.nat(300),
        fc.nat(50),
        async (depth, fork, shorter) => {
          const remembered = indexed(1000, 1000 + depth);
          const shared = 1000 + Math.min(fork, depth);
          const length = Math.max(shared, 1000 + depth - shorter);
          const found = await findFork(remembered, chain(shared, length));
          expect(found.number).toBe(BigInt(shared));
        },
      ),
    );
  });

  it('refuses to go below the finalised block, and says what the chain has instead', async () => {
    await expect(findFork(indexed(1000, 1130), chain(999, 2000))).rejects.toMatchObject({
      code: 'DEEP_REORGANISATION',
      retryable: false,
      message: expect.stringContaining('0xb1000') as unknown,
    });
  });
});

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
  it.each<[string, BlockHeader, BlockHeader, object]>([
    ['reads on where the chain is ahead', block(105), block(95), { kind: 'advance', to: 105n }],
    ['waits at the same block', block(100), block(90), { kind: 'wait' }],
    [
      'sees another hash at the head',
      block(100, 'b'),
      block(90),
      { kind: 'reorganised', at: 100n },
    ],
    ['takes a lower head for a node behind', block(96), block(90), { kind: 'behind', by: 4n }],
    [
      'sees another hash below the head',
      block(96, 'b'),
      block(90),
      { kind: 'reorganised', at: 96n },
    ],
    [
      'freezes where the node is below the finalised block, whatever its hash',
      block(80, 'b'),
      block(70, 'b'),
      { kind: 'frozen', finalised: 90n, latest: 80n },
    ],
    [
      'sees that another block became final than the indexed one',
      block(120, 'b'),
      block(95, 'b'),
      { kind: 'reorganised', at: 95n },
    ],
  ])('%s', (_case, latest, finalised, expected) => {
    expect(nextStep(index(100, 90), { latest, finalised })).toEqual(expected);
  });

  it('reads on in a backfill far below finality', () => {
    expect(nextStep(index(10, 10), { latest: block(1000), finalised: block(900) })).toEqual({
      kind: 'advance',
      to: 1000n,
    });
  });
});

describe('finalisedOf', () => {
  it.each([
    ['is the head itself while the index is below finality', index(50, 40), 90, 50],
    ['never goes back', index(100, 90), 85, 90],
    ['moves up with the chain', index(100, 90), 95, 95],
  ])('%s', (_case, indexed, finalised, expected) => {
    const heads = { latest: block(101), finalised: block(finalised) };
    expect(finalisedOf(indexed, heads)).toEqual(block(expected));
  });
});
