/** What the verification mode in force (docs/decisions/0003) demands of each range. */
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
    return this.status.verification?.mode ?? 'two';
  }

  /** Whether the endpoints belong to at least two providers, so that another one can confirm what one reports. */
  get hasOtherProvider(): boolean {
    return countProviders(this.reader.endpoints) > 1;
  }

  /** Latest believable block time; Unix time in seconds. */
  get latestSeconds(): number {
    return Math.floor(this.clock.nowMs() / 1000) + MAX_AHEAD_SECONDS;
  }

  /**
   * Whether ranges are compared with the contract's total. Where endpoints have the total of recent blocks only, final
   * ranges are not compared, and in the mode `wallets` newer ranges only after the first comparison of wallets: a
   * wallet's difference shows where an event is missing, a difference in the total only shows that one is missing.
   */
  comparesTotal(isFinal: boolean): boolean {
    if (this.status.verification?.comparesPastTotals ?? true) return true;
    return !isFinal && (this.mode !== 'wallets' || this.hasComparedWallets);
  }

  /**
   * Whether the index counts as verified up to the end of a range. A total also vouches for all blocks before, a second
   * provider for the range alone. In the mode `wallets` only the comparison of wallets verifies blocks; in the mode
   * `none` nothing does.
   * @param verified newest verified block before the range
   */
  isVouchedFor({ contractTotal, isConfirmed, answer }: VerifiedRange, verified: bigint): boolean {
    const { mode } = this;
    if (mode === 'wallets' || mode === 'none') return false;
    return contractTotal !== undefined || (isConfirmed && verified >= answer.from - 1n);
  }

  fetchOptions(isFinal: boolean, signal: AbortSignal): FetchOptions {
    const { mode, latestSeconds } = this;
    return {
      headers: isFinal ? 'events' : 'all',
      latestSeconds,
      recheckEventBlocks: !isFinal && (mode === 'wallets' || mode === 'none'),
      isVouchedFor: mode !== 'none' || this.hasOtherProvider,
      patienceMs: Infinity,
      signal,
    };
  }
}

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

  /** Forgets suspect ranges that end at or below a block that is verified by now. */
  forgetUpTo(block: bigint): void {
    this.ranges = this.ranges.filter((suspect) => suspect.to > block);
  }
}
