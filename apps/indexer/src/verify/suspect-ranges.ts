import { type BlockRange } from '#libs/chain';

/** How a range is to be read again after what it brought was found wrong. */
export interface SuspectRange extends BlockRange {
  /** Endpoints whose word does not count here. */
  readonly avoid: readonly string[];
  /** Receipts are a second source on the same node: a node that loses logs in its log index still has them there. */
  readonly by: 'logs' | 'receipts';
}

/** The ranges whose first answer was wrong. They are read apart from the others, and otherwise. */
export class SuspectRanges {
  private ranges: SuspectRange[] = [];

  add(range: SuspectRange): void {
    this.ranges.push(range);
  }

  /** The newest one that covers a block: what was found later is known better. */
  at(block: bigint): SuspectRange | undefined {
    return this.ranges.findLast((suspect) => suspect.from <= block && block <= suspect.to);
  }

  /** How many times a block was found wrong. */
  countAt(block: bigint): number {
    return this.ranges.filter(({ from, to }) => from <= block && block <= to).length;
  }

  /** Shortens a range so that it lies wholly inside or wholly outside each of them. */
  cut = (range: BlockRange): BlockRange => {
    let { to } = range;
    for (const suspect of this.ranges) {
      if (range.from < suspect.from && suspect.from <= to) to = suspect.from - 1n;
      if (suspect.from <= range.from && range.from <= suspect.to && suspect.to < to)
        to = suspect.to;
    }
    return { from: range.from, to };
  };

  /** Forgets what lies at or below a block that has been verified since. */
  forgetUpTo(block: bigint): void {
    this.ranges = this.ranges.filter((suspect) => suspect.to > block);
  }
}
