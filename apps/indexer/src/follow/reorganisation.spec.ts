import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type BlockHash, type BlockHeader } from '#libs/domain';
import { findFork } from './reorganisation.js';

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
