/** What the mode in force (docs/decisions/0003) asks of each range. */
import {
  type BlockRange,
  type ChainReader,
  countProviders,
  type FetchOptions,
  type VerificationMode,
} from '#libs/chain';
import { MAX_AHEAD_SECONDS } from '#libs/domain';
import { type Clock } from '#libs/platform';
import { type IndexStatus } from '../follow/index-status.js';
import { type VerifiedRange } from './verified-range.js';

export class VerificationPolicy {
  hasComparedWallets = false;

  constructor(
    private readonly status: IndexStatus,
    private readonly reader: ChainReader,
    private readonly clock: Clock,
  ) {}

  get mode(): VerificationMode {
    return this.status.verification?.mode ?? 'headers';
  }

  /** Whether the endpoints are of two providers at least: another one can be asked what one says. */
  get hasOtherProvider(): boolean {
    return countProviders(this.reader.endpoints) > 1;
  }

  /** What a block may be dated at the most, Unix seconds. */
  get latestSeconds(): number {
    return Math.floor(this.clock.nowMs() / 1000) + MAX_AHEAD_SECONDS;
  }

  /**
   * Whether ranges are held against the contract's total. Where it is known of recent blocks only and wallets are compared, not before
   * they were: they show where an event is missing, the total only that one is.
   */
  comparesTotal(isFinal: boolean): boolean {
    if (this.status.verification?.comparesPastTotals ?? true) return true;
    return !isFinal && (this.mode !== 'wallets' || this.hasComparedWallets);
  }

  /** Whether a range that was read is vouched for; in the mode `wallets` that is for their comparison to say. */
  isVouchedFor({ contractTotal, isConfirmed }: VerifiedRange): boolean {
    return this.mode !== 'wallets' && (contractTotal !== undefined || isConfirmed);
  }

  fetchOptions(isFinal: boolean, signal: AbortSignal): FetchOptions {
    const { mode, latestSeconds } = this;
    return {
      headers: isFinal && mode !== 'headers' ? 'events' : 'all',
      latestSeconds,
      recount: mode === 'headers' || (mode === 'wallets' && !isFinal),
      patienceMs: Infinity,
      signal,
    };
  }
}

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

  clear(): void {
    this.ranges = [];
  }

  /** Forgets what lies at or below a block that has been verified since. */
  forgetUpTo(block: bigint): void {
    this.ranges = this.ranges.filter((suspect) => suspect.to > block);
  }
}
