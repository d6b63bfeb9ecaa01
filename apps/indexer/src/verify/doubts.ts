import { type BlockRange } from '#libs/chain';

/** How a range is to be read again after what it brought was found wrong. */
export interface Doubt extends BlockRange {
  /** Endpoints whose word does not count here. */
  readonly avoid: readonly string[];
  /** Receipts are a second source on the same node: a node that loses logs in its log index still has them there. */
  readonly by: 'logs' | 'receipts';
}

/** The ranges whose first answer was wrong. They are read apart from the others, and otherwise. */
export class Doubts {
  private doubts: Doubt[] = [];

  add(doubt: Doubt): void {
    this.doubts.push(doubt);
  }

  /** The newest doubt that covers a block: what was found later is known better. */
  at(block: bigint): Doubt | undefined {
    return this.doubts.findLast((doubt) => doubt.from <= block && block <= doubt.to);
  }

  /** How many times a block was put in doubt. */
  countAt(block: bigint): number {
    return this.doubts.filter(({ from, to }) => from <= block && block <= to).length;
  }

  /** Shortens a range so that it lies wholly inside or wholly outside every doubt. */
  cut = (range: BlockRange): BlockRange => {
    let { to } = range;
    for (const doubt of this.doubts) {
      if (range.from < doubt.from && doubt.from <= to) to = doubt.from - 1n;
      if (doubt.from <= range.from && range.from <= doubt.to && doubt.to < to) to = doubt.to;
    }
    return { from: range.from, to };
  };

  /** Forgets what lies at or below a block that has been verified since. */
  settle(block: bigint): void {
    this.doubts = this.doubts.filter((doubt) => doubt.to > block);
  }
}
