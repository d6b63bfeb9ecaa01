/** A range of blocks with what vouches for its events, and what can be done with its answer: sum it up, cut it, join parts. Pure. */
import { type Comparison, type RangeAnswer, refOf } from '#libs/chain';
import { type BlockDeltas, type BlockRef, ZERO_ADDRESS } from '#libs/domain';

export interface Checkpoint {
  readonly head: RangeAnswer['head'];
  readonly total: bigint;
  readonly endpoint: string;
}

export interface VerifiedRange {
  readonly answer: RangeAnswer;
  /** What the range's events add to the sum of all balances. */
  readonly delta: bigint;
  /** The contract's total at its end. Undefined where no node has the state of that block, or there is no total to ask for. */
  readonly contractTotal: bigint | undefined;
  readonly totalBy: string | undefined;
  /** What another provider said of the range. */
  readonly other: Comparison | undefined;
  /** The contract's totals at the ends of the parts that were joined, ascending; the last is at the range's end where it is known. */
  readonly checkpoints: readonly Checkpoint[];
  /** Something else than the contract's total vouches for the events: a second provider, or headers and receipts. */
  readonly isConfirmed: boolean;
  /** Read apart from its neighbours, and to stay so. */
  readonly apart: boolean;
  readonly bytes: number;
}

/**
 * Two neighbours as one, as if the node had been asked for both at once.
 * @returns undefined where they are not of one fork, or where the contract's totals before and after the later one differ by something
 *   else than its events: what is wrong is found more easily in the smaller range
 */
export function joinRanges(
  earlier: VerifiedRange,
  later: VerifiedRange,
): VerifiedRange | undefined {
  const [before, after] = [earlier.answer, later.answer];
  if (earlier.apart || later.apart) return undefined;
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

/** The part of an answer after a block of it. */
export function partAfter(answer: RangeAnswer, block: BlockRef): RangeAnswer {
  return {
    ...answer,
    from: block.number + 1n,
    parentHash: block.hash,
    blocks: answer.blocks.filter(({ blockNumber }) => blockNumber > block.number),
    headers: answer.headers.filter(({ number }) => number > block.number),
  };
}

/** Two neighbours as one. Events and bytes are those of the whole answer that both come from. */
export function joinAnswers(earlier: RangeAnswer, later: RangeAnswer): RangeAnswer {
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

/** The sum of all balances at the end of `block`, when it was `before` ahead of the range. */
export function totalAt(before: bigint, blocks: readonly BlockDeltas[], block: bigint): bigint {
  let total = before;
  for (const { blockNumber, deltas } of blocks) {
    if (blockNumber > block) break;
    for (const { wallet, amount } of deltas) if (wallet !== ZERO_ADDRESS) total += amount;
  }
  return total;
}
