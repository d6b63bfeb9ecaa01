import { type BlockRange } from '#libs/chain';

/** How a range is read again after its first answer was found wrong. */
export interface SuspectRange extends BlockRange {
  /** Endpoints whose answers do not count for this range. */
  readonly avoid: readonly string[];
  /** Receipts are a second source on the same node: they still hold logs that the node's log index has lost. */
  readonly by: 'logs' | 'receipts';
}

/** The ranges whose first answer was wrong. Each is read separately from its neighbours, and in its own way. */
export class SuspectRanges {
  private ranges: SuspectRange[] = [];

  add(range: SuspectRange): void {
    this.ranges.push(range);
  }

  /** The newest suspect range that covers a block, as the newest finding is the most exact. */
  covering(block: bigint): SuspectRange | undefined {
    return this.ranges.findLast((suspect) => suspect.from <= block && block <= suspect.to);
  }

  countAt(block: bigint): number {
    return this.ranges.filter(({ from, to }) => from <= block && block <= to).length;
  }

  /** Shortens a range so that it lies completely inside or completely outside each suspect range. */
  cut(range: BlockRange): BlockRange {
    let { to } = range;
    for (const suspect of this.ranges) {
      if (range.from < suspect.from && suspect.from <= to) to = suspect.from - 1n;
      if (suspect.from <= range.from && range.from <= suspect.to && suspect.to < to)
        to = suspect.to;
    }
    return { from: range.from, to };
  }

  clear(): void {
    this.ranges = [];
  }

  /** Forgets suspect ranges that end at or below a block that is verified by now. */
  forgetUpTo(block: bigint): void {
    this.ranges = this.ranges.filter((suspect) => suspect.to > block);
  }
}
