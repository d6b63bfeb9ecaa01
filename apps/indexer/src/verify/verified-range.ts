/** A range of blocks with what verifies its events, and pure functions to sum, cut and join answers. */
import { type Comparison, type RangeAnswer, refOf } from '#libs/chain';
import { type BlockDeltas, type BlockRef, ZERO_ADDRESS } from '#libs/domain';

export interface Checkpoint {
  readonly head: RangeAnswer['head'];
  readonly total: bigint;
  readonly endpoint: string;
}

export interface VerifiedRange {
  readonly answer: RangeAnswer;
  /** Change of the sum of all balances by the range's events. */
  readonly delta: bigint;
  /**
   * The contract's total at the range's end. Undefined where no node has the state of that block, or the contract has
   * no total.
   */
  readonly contractTotal: bigint | undefined;
  readonly totalBy: string | undefined;
  /** What another provider reports about the range. */
  readonly other: Comparison | undefined;
  /**
   * The contract's totals at the ends of the joined parts, ascending. The last one is at the range's end, if it is
   * known.
   */
  readonly checkpoints: readonly Checkpoint[];
  /** A second provider reports the same events. */
  readonly isConfirmed: boolean;
  /** A suspect range, which must not be joined with its neighbours. */
  readonly isSuspect: boolean;
  readonly bytes: number;
}

/**
 * Joins two neighbours into one range, as if the node had been asked for both at once.
 * @returns undefined where the two are not on one fork or must stay apart, or where the change of the contract's total
 * over the later one is not the sum of its events: an error is found more easily in the smaller range
 */
export function joinRanges(
  earlier: VerifiedRange,
  later: VerifiedRange,
): VerifiedRange | undefined {
  const [before, after] = [earlier.answer, later.answer];
  if (earlier.isSuspect || later.isSuspect) return undefined;
  if (after.parentHash !== undefined && after.parentHash !== before.head.hash) return undefined;
  const { contractTotal } = earlier;
  if (contractTotal !== undefined && later.contractTotal !== contractTotal + later.delta) {
    return undefined;
  }
  const bytes = earlier.bytes + later.bytes;
  return {
    ...later,
    answer: {
      ...joinAnswers(before, after),
      endpoint: before.endpoint,
      isProven: before.isProven && after.isProven,
      burnt: before.burnt + after.burnt,
      events: before.events + after.events,
      bytes,
    },
    delta: earlier.delta + later.delta,
    other: undefined,
    checkpoints: [...earlier.checkpoints, ...later.checkpoints],
    isConfirmed: earlier.isConfirmed && later.isConfirmed,
    bytes,
  };
}

/** Change of the sum of all balances by the events of an answer. */
export function deltaOf({ blocks, to }: RangeAnswer): bigint {
  return totalAt(0n, blocks, to);
}

/** Time and effects of one block as text, equal for equal events in any order; empty where nothing happened. */
export function effectsOf(blocks: readonly BlockDeltas[], number: bigint): string {
  const block = blocks.find(({ blockNumber }) => blockNumber === number);
  if (!block) return '';
  const deltas = block.deltas.map(({ wallet, amount }) => `${wallet} ${amount}`);
  return `at ${block.timestampSeconds}: ${deltas.sort().join(', ')}`;
}

/**
 * The part of an answer up to and including a block.
 * @param head the block's header
 */
export function partUpTo(answer: RangeAnswer, head: RangeAnswer['head']): RangeAnswer {
  const { number } = head;
  return {
    ...answer,
    to: number,
    head,
    blocks: answer.blocks.filter(({ blockNumber }) => blockNumber <= number),
    headers: [...answer.headers.filter((header) => header.number < number), refOf(head)],
  };
}

/** The part of an answer after one of its blocks. */
export function partAfter(answer: RangeAnswer, block: BlockRef): RangeAnswer {
  return {
    ...answer,
    from: block.number + 1n,
    parentHash: block.hash,
    blocks: answer.blocks.filter(({ blockNumber }) => blockNumber > block.number),
    headers: answer.headers.filter(({ number }) => number > block.number),
  };
}

/**
 * Joins two neighbouring answers. `events` and `bytes` are those of the later one, which are right for parts of one
 * answer: each part carries those of the whole.
 */
export function joinAnswers(earlier: RangeAnswer, later: RangeAnswer): RangeAnswer {
  return {
    ...later,
    from: earlier.from,
    parentHash: earlier.parentHash,
    blocks: [...earlier.blocks, ...later.blocks],
    headers: [...earlier.headers, ...later.headers],
  };
}

/** Replaces one block of an answer by the same block of another answer. */
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

/** The sum of all balances at the end of `block`, given the sum before the range. */
export function totalAt(before: bigint, blocks: readonly BlockDeltas[], block: bigint): bigint {
  let total = before;
  for (const { blockNumber, deltas } of blocks) {
    if (blockNumber > block) break;
    for (const { wallet, amount } of deltas) if (wallet !== ZERO_ADDRESS) total += amount;
  }
  return total;
}
