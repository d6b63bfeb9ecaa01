import { type ChainReader, countProviders, type FetchOptions, type ReadRange } from '#libs/chain';
import { MAX_AHEAD_SECONDS } from '#libs/domain';
import { type Clock } from '#libs/platform';
import { type IndexStatus } from '../health/index-status.js';

export interface WitnessQuestion {
  /** Every block of the range is final, so that no reorganisation can affect it. */
  readonly isFinal: boolean;
  readonly signal: AbortSignal;
  /** Whether the second read brings the contract's total. */
  readonly wantsTotal: boolean;
  /** The blocks were read from their receipts because logs were missing. They are compared at most once. */
  readonly isByReceipts: boolean;
  /** At the chain's head: the sum of all balances in the index, before the range. */
  readonly indexedTotal?: bigint;
}

/**
 * Vouches for a range when it was read. A new witness is put into the list of vouch.ts, and made in follow.module.ts and
 * test/simulation/core/indexer.ts. What it proves is a field of `ReadRange` that `vouchFor` reads; what it compares later
 * is called by `check` or `checkLevel` of vouch.ts. If it is a mode of its own, libs/chain/src/reader/verification.ts
 * chooses it and `Witnesses` says what follows from it; a fault that only it finds is planted in
 * test/simulation/faults/core.
 */
export interface Witness {
  /** @returns the range with what the witness knows about it, and with the blocks that it proves */
  confirm(range: ReadRange, question: WitnessQuestion): Promise<ReadRange>;
}

/** Which witnesses there are, and which of them decides: STAKE_VERIFICATION (docs/decisions/0003). */
export class Witnesses {
  hasComparedWallets = false;

  constructor(
    private readonly status: IndexStatus,
    private readonly reader: ChainReader,
    private readonly clock: Clock,
  ) {}

  /** Whether two providers must report the same. Otherwise the index goes on with one while the other is out. */
  get mustBeTwo(): boolean {
    return (this.status.verification?.mode ?? 'two') === 'two';
  }

  /** Whether the balances of wallets decide which blocks are verified. */
  get areBalances(): boolean {
    return this.status.verification?.mode === 'wallets';
  }

  /** Whether nothing vouches for the events of one provider. */
  get areNone(): boolean {
    return this.status.verification?.mode === 'none';
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
   * Whether ranges are compared with the contract's total. If endpoints have the total of recent blocks only, final
   * ranges are not compared, and where balances decide, newer ranges only after the first comparison of wallets: a
   * wallet's difference shows where an event is missing, a difference in the total only shows that one is missing.
   */
  comparesTotal(isFinal: boolean): boolean {
    if (this.status.verification?.comparesPastTotals ?? true) return true;
    return !isFinal && (!this.areBalances || this.hasComparedWallets);
  }

  /**
   * Whether the index counts as verified up to the end of a range. A total also vouches for all blocks before, a second
   * provider for the range alone.
   * @param verified newest verified block before the range
   */
  vouchFor({ totals, confirmedBy, from }: ReadRange, verified: bigint): boolean {
    if (this.areBalances || this.areNone) return false;
    return totals.length > 0 || (confirmedBy !== undefined && verified >= from - 1n);
  }

  fetchOptions(isFinal: boolean, signal: AbortSignal): FetchOptions {
    const { latestSeconds } = this;
    return {
      headers: isFinal ? 'events' : 'all',
      latestSeconds,
      recheckEventBlocks: !isFinal && (this.areBalances || this.areNone),
      isCheckedLater: !this.areNone || this.hasOtherProvider,
      looksInReceipts: !this.reader.hasTotal,
      patienceMs: Infinity,
      signal,
    };
  }
}
