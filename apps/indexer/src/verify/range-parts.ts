/** What can be done with the answer for a range of blocks: sum it up, cut it, put parts together. Pure. */
import { type RangeAnswer } from '#libs/chain';
import { type BlockDeltas, type BlockRef } from '#libs/domain';
import { totalAt } from './total-mismatch.js';

/** What the events of an answer add to the sum of all balances. */
export function deltaOf({ blocks, to }: RangeAnswer): bigint {
  return totalAt(0n, blocks, to);
}

/** The time and the effects of one block as text, the same for the same events in the same order; empty where nothing happened. */
export function effectsOf(blocks: readonly BlockDeltas[], number: bigint): string {
  const block = blocks.find(({ blockNumber }) => blockNumber === number);
  if (!block) return '';
  const deltas = block.deltas.map(({ wallet, amount }) => `${wallet} ${amount}`);
  return `at ${block.timestampSeconds}: ${deltas.join(', ')}`;
}

/** The part of an answer up to a block. @param head that block's header */
export function upTo(answer: RangeAnswer, head: RangeAnswer['head']): RangeAnswer {
  const { number, hash, timestampSeconds } = head;
  const ref: BlockRef = { number, hash, timestampSeconds };
  return {
    ...answer,
    to: number,
    head,
    blocks: answer.blocks.filter(({ blockNumber }) => blockNumber <= number),
    headers: [...answer.headers.filter((header) => header.number < number), ref],
  };
}

/** The part of an answer after a block of it. */
export function after(answer: RangeAnswer, block: BlockRef): RangeAnswer {
  return {
    ...answer,
    from: block.number + 1n,
    parentHash: block.hash,
    blocks: answer.blocks.filter(({ blockNumber }) => blockNumber > block.number),
    headers: answer.headers.filter(({ number }) => number > block.number),
  };
}

/** Two neighbours as one. Events and bytes are those of the whole answer that both come from. */
export function together(earlier: RangeAnswer, later: RangeAnswer): RangeAnswer {
  return {
    ...later,
    from: earlier.from,
    parentHash: earlier.parentHash,
    blocks: [...earlier.blocks, ...later.blocks],
    headers: [...earlier.headers, ...later.headers],
  };
}

/** An answer with one block as another answer has it. */
export function withBlock(answer: RangeAnswer, single: RangeAnswer): RangeAnswer {
  const { to: number } = single;
  const inOrder = <T>(items: readonly T[], numberOf: (item: T) => bigint): T[] =>
    [...items].sort((a, b) => (numberOf(a) < numberOf(b) ? -1 : 1));
  return {
    ...answer,
    blocks: inOrder(
      [...answer.blocks.filter(({ blockNumber }) => blockNumber !== number), ...single.blocks],
      ({ blockNumber }) => blockNumber,
    ),
    headers: inOrder(
      [...answer.headers.filter((header) => header.number !== number), ...single.headers],
      (header) => header.number,
    ),
  };
}
