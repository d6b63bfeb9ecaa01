import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type BlockHash, type BlockHeader } from '#libs/domain';
import { dueDays, findClosingBlock } from './closing-block.js';

const hashOf = (number: number): BlockHash =>
  `0x${number.toString(16).padStart(64, '0')}` as BlockHash;

function chainOf(times: readonly number[]): BlockHeader[] {
  return times.map((timestampSeconds, number) => ({
    ...{ number: BigInt(number), timestampSeconds, hash: hashOf(number) },
    parentHash: hashOf(number - 1),
  }));
}

/** More than a search on any chain of these tests needs. */
const MOST_ROUNDS = 50;

/**
 * Reads headers of a chain, and counts the requests.
 * @throws Error if the search does not end: without I/O it would never give Jest's time limit a turn
 */
function countingReader(chain: readonly BlockHeader[]) {
  const count = { rounds: 0 };
  const read = (numbers: readonly bigint[]) => {
    count.rounds += 1;
    if (count.rounds > MOST_ROUNDS) throw new Error('the search does not end');
    return Promise.resolve(numbers.map((number) => chain[Number(number)]));
  };
  return { count, read };
}

async function find(chain: readonly BlockHeader[], endSeconds: number) {
  const [from] = chain;
  const to = chain.at(-1);
  if (!from || !to) throw new Error('a chain has blocks');
  const { count, read } = countingReader(chain);
  const found = await findClosingBlock({ endSeconds, from, to }, read);
  return { found: found.number, rounds: count.rounds };
}

describe('findClosingBlock', () => {
  it('is the last block before the end, however blocks lie in time', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(fc.nat(20), fc.constant(0), fc.nat(90_000)), {
          minLength: 2,
          maxLength: 300,
        }),
        fc.nat(),
        async (steps, at) => {
          let seconds = 0;
          const chain = chainOf(steps.map((step) => (seconds += step)));
          const first = chain[0]?.timestampSeconds ?? 0;
          fc.pre(seconds > first);
          const endSeconds = first + 1 + (at % (seconds - first));
          const expected = chain.findLast((block) => block.timestampSeconds < endSeconds);
          expect((await find(chain, endSeconds)).found).toBe(expected?.number);
        },
      ),
    );
  });

  it('takes a few questions on a long chain with a steady beat', async () => {
    const chain = chainOf(
      Array.from({ length: 200_000 }, (_, number) => number * 12 + (number % 5)),
    );
    const { found, rounds } = await find(chain, 1_234_567);
    expect(chain[Number(found)]?.timestampSeconds).toBeLessThan(1_234_567);
    expect(rounds).toBeLessThanOrEqual(4);
  });

  it.each<[string, (chain: BlockHeader[]) => void, string]>([
    ['a block is missing', (chain) => void chain.splice(2, 2), 'FINAL_BLOCK_MISSING'],
    [
      'the block after it names another parent',
      (chain) => (chain[2] = { ...(chain[2] as BlockHeader), parentHash: hashOf(9) }),
      'CLOSING_BLOCK_UNCLEAR',
    ],
    [
      'the last block is dated otherwise than before',
      (chain) => (chain[3] = { ...(chain[3] as BlockHeader), timestampSeconds: 5 }),
      'CLOSING_BLOCK_UNCLEAR',
    ],
  ])('asks again where %s', async (_case, spoil, code) => {
    const chain = chainOf([0, 10, 20, 30]);
    const [from, , , to] = chain;
    spoil(chain);
    const endSeconds =
      code === 'CLOSING_BLOCK_UNCLEAR' && chain[3]?.timestampSeconds === 5 ? 25 : 15;
    const search = { endSeconds, from: from as BlockHeader, to: to as BlockHeader };
    const { read } = countingReader(chain);
    await expect(findClosingBlock(search, read)).rejects.toMatchObject({ code, retryable: true });
  });
});

describe('dueDays', () => {
  const at = (seconds: number) => ({ number: 1n, hash: hashOf(1), timestampSeconds: seconds });
  const DAY = 86_400;

  it.each([
    ['the first day of the index, on the first sync', 12 * DAY, null, null, [10, 11]],
    ['a day whose last second is past', 12 * DAY, 10, null, [11, 11]],
    ['none whose last second is not', 12 * DAY - 1, 10, null, [11, 10]],
    ['those that have to be worked out again first', 14 * DAY, 12, 11, [11, 13]],
    ['none before the first one', 14 * DAY, 12, 0, [10, 13]],
    ['new ones where those noted are not sealed', 14 * DAY, 12, 20, [13, 13]],
    ['what is there of an index that is being made again', 11 * DAY, 12, 10, [10, 10]],
  ] as const)('are %s', (...[, seconds, newestDay, recheckFrom, [from, to]]) => {
    const due = dueDays({ settled: at(seconds), firstDay: 10, newestDay, recheckFrom });
    expect(due).toEqual({ from, to });
  });
});
