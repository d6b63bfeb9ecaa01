/**
 * Holds wallets against the contract's own view of them: events that cancel each other out in the sum (a transfer, a stake and a
 * withdrawal of the same size) show only here. In the mode `wallets` every wallet is compared before the index is first called level,
 * and from then on each one that changed; in every mode a sample now and then.
 */
import {
  type ChainReader,
  type LogSource,
  type VerificationMode,
  WALLETS_AT_ONCE,
} from '#libs/chain';
import { type IndexStore } from '#libs/db';
import { type Address, type BlockRef, PermanentError, RetryableError } from '#libs/domain';
import { type Clock, type Logger } from '#libs/platform';
import { type IndexWriter } from '../apply/index-writer.js';
import { BalanceComparison, type Difference } from './balance-comparison.js';
import { type Doubt, type Doubts } from './doubts.js';
import { type RangeVerifier } from './range-verifier.js';
import { firstDisagreement } from './total-mismatch.js';
import { walletsNamedAgain } from './wallets-named-again.js';

/** Half of them changed lately, half are drawn from all. */
const SAMPLE = 32;
/** Each sample costs as many calls of the contract as there are wallets in it. */
const SAMPLE_EVERY_MS = 5 * 60_000;
/** Wallets that changed are compared as blocks become final, but not more often. */
const SWEEP_EVERY_MS = 60_000;
/** Differences that are traced to their blocks at once. */
const MOST_TRACED = 100;
const PROGRESS_EVERY_MS = 2_000;

/** A wallet's indexed balance is not what the contract says. */
export class WalletMismatchError extends PermanentError {
  constructor(mismatch: Difference) {
    super(
      'WALLET_MISMATCH',
      `At block ${mismatch.block} wallet ${mismatch.wallet} has ${mismatch.indexed} in the index but ${mismatch.contract} in the contract. ` +
        `Add another endpoint to RPC_URLS and check STAKE_EVENTS; where the function means something else in this contract, set ` +
        `STAKE_BALANCE_VIEW to the right one or to none.`,
    );
  }
}

export interface WalletCheckParts {
  readonly reader: Pick<ChainReader, 'stakeBalances' | 'headers' | 'endpoints'>;
  readonly store: Pick<IndexStore, 'sampleWallets' | 'balancesAt' | 'changedWallets'>;
  readonly verifier: Pick<RangeVerifier, 'hasOtherProvider' | 'fetchOptions'>;
  readonly source: Pick<LogSource, 'fetch'>;
  readonly doubts: Doubts;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The first block that is indexed. */
  readonly firstBlock: bigint;
  /** Told while a long comparison goes on. */
  readonly onProgress: () => void;
}

/** What a check came to. */
export type CheckResult =
  | { readonly kind: 'agreed'; readonly verifiedNumber: bigint | undefined }
  /** Some events are to be read again, from the block after this one on. */
  | { readonly kind: 'roll-back'; readonly to: BlockRef };

export class WalletCheck {
  /** Set before the first check. */
  mode: VerificationMode = 'headers';
  private lastGood: bigint | undefined;
  private checkedAtMs = 0;
  /** In the mode `wallets` a sample is taken as well, of those that did not change. */
  private sampledAtMs: number | undefined;
  /** Blocks read again since the last check that held: once is enough to believe the difference. */
  private readonly readAgain = new Set<bigint>();
  /** Wallets that differed since the last check that held: a sample that misses them does not pass for a cure. */
  private readonly differed = new Set<Address>();

  private readonly balances: BalanceComparison;

  constructor(private readonly parts: WalletCheckParts) {
    this.balances = new BalanceComparison(parts);
  }

  /** Whether no check held yet, or blocks became final since one did that is some minutes old. */
  due({ state, synced }: Pick<IndexWriter, 'state' | 'synced'>): boolean {
    const { finalised, verifiedNumber } = state;
    if (finalised === undefined) return false;
    const sinceMs = this.parts.clock.nowMs() - this.checkedAtMs;
    if (this.mode === 'wallets') {
      const isBehind = verifiedNumber === undefined || verifiedNumber < finalised.number;
      return isBehind && (!synced || sinceMs >= SWEEP_EVERY_MS);
    }
    if (this.lastGood === undefined) return true;
    return finalised.number > this.lastGood && sinceMs >= SAMPLE_EVERY_MS;
  }

  /**
   * @throws WalletMismatchError where a wallet differs and its block could not be found, or reading it again gave the same;
   * RetryableError where the mode is `wallets` and no endpoint has the state of the finalised block or of the head
   */
  async run(writer: IndexWriter, signal: AbortSignal): Promise<CheckResult> {
    const differences =
      this.mode === 'wallets'
        ? await this.sweepAndSample(writer, signal)
        : await this.sample(writer);
    for (const { wallet } of differences) this.differed.add(wallet);
    if (differences.length > 0) return { kind: 'roll-back', to: await this.trace(differences) };
    this.lastGood = writer.state.finalised?.number;
    this.checkedAtMs = this.parts.clock.nowMs();
    this.readAgain.clear();
    this.differed.clear();
    const verifiedNumber = this.mode === 'wallets' ? this.lastGood : undefined;
    return { kind: 'agreed', verifiedNumber };
  }

  private async sweepAndSample(writer: IndexWriter, signal: AbortSignal): Promise<Difference[]> {
    const found = await this.sweep(writer, signal);
    const nowMs = this.parts.clock.nowMs();
    // The first sweep compares every wallet.
    this.sampledAtMs ??= nowMs;
    if (found.length > 0 || nowMs - this.sampledAtMs < SAMPLE_EVERY_MS) return found;
    this.sampledAtMs = nowMs;
    return this.sample(writer);
  }

  /** At the finalised block, as far as a node still has its state, and at the head. */
  private async sample(writer: IndexWriter): Promise<Difference[]> {
    const recent = writer.recentWallets(SAMPLE / 2);
    const sampled = await this.parts.store.sampleWallets(SAMPLE - recent.length);
    const wallets = [...new Set([...recent, ...sampled, ...this.differed])];
    for (const block of [writer.state.finalised, writer.head]) {
      const found = block && (await this.balances.compare(wallets, block));
      if (found && found.length > 0) return found;
    }
    return [];
  }

  /** Every wallet that changed since the block at which all were last compared. */
  private async sweep(writer: IndexWriter, signal: AbortSignal): Promise<Difference[]> {
    const { store, clock, logger, onProgress, firstBlock } = this.parts;
    const { finalised, verifiedNumber } = writer.state;
    if (finalised === undefined) return [];
    const above = verifiedNumber ?? firstBlock - 1n;
    const found: Difference[] = [];
    let compared = 0;
    let saidAtMs = clock.nowMs();
    let after: Address | undefined;
    do {
      const page = { above, block: finalised.number, after, limit: WALLETS_AT_ONCE };
      const wallets = await store.changedWallets(page);
      found.push(...(await this.compareFinal(wallets, writer)));
      compared += wallets.length;
      after = wallets.length === WALLETS_AT_ONCE ? wallets.at(-1) : undefined;
      onProgress();
      if (clock.nowMs() - saidAtMs >= PROGRESS_EVERY_MS) {
        saidAtMs = clock.nowMs();
        logger.info({ compared }, 'Comparing wallets with the contract');
      }
    } while (after !== undefined && found.length < MOST_TRACED);
    const named = await walletsNamedAgain(this.parts, writer.state, signal);
    found.push(...(await this.compareFinal(named, writer)));
    compared += named.length;
    const { number: block } = finalised;
    logger.info({ compared, above, block, differences: found.length }, 'Compared wallets');
    return found;
  }

  private async compareFinal(
    wallets: readonly Address[],
    { state, head }: IndexWriter,
  ): Promise<Difference[]> {
    if (wallets.length === 0) return [];
    for (const block of [state.finalised, head]) {
      const found = block && (await this.balances.compare(wallets, block));
      if (found) return found;
    }
    throw new RetryableError(
      'UNVERIFIED_WALLETS',
      `No endpoint has the contract's state at block ${state.finalised?.number ?? head.number} or ${head.number}, so wallets cannot be compared`,
    );
  }

  /** Finds the block of each difference. @returns the block before the first of them, to roll back to */
  private async trace(differences: readonly Difference[]): Promise<BlockRef> {
    const { reader, doubts, logger, onProgress } = this.parts;
    const found = new Map<bigint, Doubt>();
    for (const difference of differences) {
      const doubt = await this.doubtOver(difference);
      if (this.readAgain.has(doubt.from)) throw new WalletMismatchError(difference);
      if (found.has(doubt.from)) continue;
      found.set(doubt.from, doubt);
      logger.warn(
        { ...difference, fromBlock: doubt.from, toBlock: doubt.to },
        'A wallet’s balance is not what the contract says: reading these blocks again in another way',
      );
      onProgress();
    }
    for (const [block, doubt] of found) {
      this.readAgain.add(block);
      doubts.add(doubt);
    }
    const first = [...found.keys()].reduce((lowest, block) => (block < lowest ? block : lowest));
    const [before] = await reader.headers([first - 1n]);
    if (before) return before;
    throw new RetryableError('NO_HEADER', `No endpoint has the header of block ${first - 1n}`);
  }

  /** The block, by the wallet's view at past ones; all since the last comparison that held, where no endpoint has their state. */
  private async doubtOver({ wallet, block: bad }: Difference): Promise<Doubt> {
    const good = this.lastGood ?? this.parts.firstBlock - 1n;
    const block = await firstDisagreement(good, bad, async (number) => {
      const [header] = await this.parts.reader.headers([number]);
      const found = header && (await this.balances.compare([wallet], header));
      return found && found.length === 0;
    });
    return block === undefined
      ? { from: good + 1n, to: bad, avoid: [], by: 'logs' }
      : { from: block, to: block, avoid: [], by: 'receipts' };
  }
}
