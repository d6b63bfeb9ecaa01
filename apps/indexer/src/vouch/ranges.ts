/** Pure functions that cut, join and compare ranges. */
import { changeOf, type ReadRange, refOf } from '#libs/chain';
import { type BlockDeltas, type BlockHeader, type BlockRef } from '#libs/domain';

/**
 * Joins two neighbours into one range, as if the node had been asked for both at once.
 * @returns undefined if the two are not on one fork, or if the change of the contract's total over the later one is not
 * the sum of its events: an error is found more easily in the smaller range
 */
export function joinRanges(earlier: ReadRange, later: ReadRange): ReadRange | undefined {
  if (later.parentHash !== undefined && later.parentHash !== earlier.head.hash) return undefined;
  const [before, after] = [earlier.totals.at(-1)?.total, later.totals.at(-1)?.total];
  if (before !== undefined && after !== before + later.change) return undefined;
  return {
    ...joinParts(earlier, later),
    endpoint: earlier.endpoint,
    isProven: earlier.isProven && later.isProven,
    totals: [...earlier.totals, ...later.totals],
    confirmedBy: earlier.confirmedBy && later.confirmedBy,
    burnt: earlier.burnt + later.burnt,
    events: earlier.events + later.events,
    bytes: earlier.bytes + later.bytes,
  };
}

/** Time and effects of one block as text, equal for equal events in any order; empty if nothing happened. */
export function effectsOf(blocks: readonly BlockDeltas[], number: bigint): string {
  const block = blocks.find(({ blockNumber }) => blockNumber === number);
  if (!block) return '';
  const deltas = block.deltas.map(({ wallet, amount }) => `${wallet} ${amount}`);
  return `at ${block.timestampSeconds}: ${deltas.sort().join(', ')}`;
}

/**
 * The part of a range up to and including a block.
 * @param head the block's header
 */
export function partUpTo(range: ReadRange, head: BlockHeader): ReadRange {
  const { number } = head;
  const blocks = range.blocks.filter(({ blockNumber }) => blockNumber <= number);
  return {
    ...range,
    ...{ to: number, head, blocks, change: changeOf(blocks) },
    headers: [...range.headers.filter((header) => header.number < number), refOf(head)],
  };
}

/** The part of a range after one of its blocks. */
export function partAfter(range: ReadRange, { number, hash }: BlockRef): ReadRange {
  const blocks = range.blocks.filter(({ blockNumber }) => blockNumber > number);
  return {
    ...range,
    ...{ from: number + 1n, parentHash: hash, blocks, change: changeOf(blocks) },
    headers: range.headers.filter((header) => header.number > number),
  };
}

/**
 * Joins two neighbouring parts of one range. What is not about blocks is that of the later one, because each part
 * carries that of the whole.
 */
export function joinParts(earlier: ReadRange, later: ReadRange): ReadRange {
  return {
    ...later,
    from: earlier.from,
    parentHash: earlier.parentHash,
    blocks: [...earlier.blocks, ...later.blocks],
    headers: [...earlier.headers, ...later.headers],
    change: earlier.change + later.change,
  };
}

/** Replaces one block of a range by the same block of another read. */
export function withBlock(range: ReadRange, single: ReadRange): ReadRange {
  const { to: number } = single;
  const blocks = inOrder(
    [...range.blocks.filter(({ blockNumber }) => blockNumber !== number), ...single.blocks],
    ({ blockNumber }) => blockNumber,
  );
  const headers = inOrder(
    [...range.headers.filter((header) => header.number !== number), ...single.headers],
    (header) => header.number,
  );
  return { ...range, blocks, headers, change: changeOf(blocks) };
}

function inOrder<T>(items: readonly T[], numberOf: (item: T) => bigint): T[] {
  return [...items].sort((a, b) => (numberOf(a) < numberOf(b) ? -1 : 1));
}
