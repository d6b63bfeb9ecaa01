import { type Comparison, type RangeAnswer } from '#libs/chain';

/** What the contract says at the end of a block. */
export interface Checkpoint {
  readonly head: RangeAnswer['head'];
  readonly total: bigint;
  /** The endpoint whose events are those up to here. */
  readonly endpoint: string;
}

/** A range as it was read, with what the contract says at its end. */
export interface ReadRange {
  readonly answer: RangeAnswer;
  /** What the range's events add to the sum of all balances. */
  readonly delta: bigint;
  /** The contract's total at its end. Undefined where no node has the state of that block, or there is no total to ask for. */
  readonly contractTotal: bigint | undefined;
  /** The endpoint that told it. */
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
export function joinRanges(earlier: ReadRange, later: ReadRange): ReadRange | undefined {
  const [before, after] = [earlier.answer, later.answer];
  if (earlier.apart || later.apart) return undefined;
  if (after.parentHash !== undefined && after.parentHash !== before.head.hash) return undefined;
  const { contractTotal } = earlier;
  if (contractTotal !== undefined && later.contractTotal !== contractTotal + later.delta) {
    return undefined;
  }
  const bytes = earlier.bytes + later.bytes;
  return {
    answer: {
      from: before.from,
      to: after.to,
      endpoint: before.endpoint,
      parentHash: before.parentHash,
      head: after.head,
      blocks: [...before.blocks, ...after.blocks],
      headers: [...before.headers, ...after.headers],
      isProven: before.isProven && after.isProven,
      events: before.events + after.events,
      bytes,
    },
    delta: earlier.delta + later.delta,
    contractTotal: later.contractTotal,
    totalBy: later.totalBy,
    other: undefined,
    checkpoints: [...earlier.checkpoints, ...later.checkpoints],
    isConfirmed: earlier.isConfirmed && later.isConfirmed,
    apart: false,
    bytes,
  };
}
