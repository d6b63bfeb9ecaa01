/**
 * The witness that compares wallets with the contract's own view of their balances. Only this shows wrong events that
 * cancel each other out in the total (a transfer; a stake and a withdrawal of the same size). If balances decide, every
 * wallet is compared before the index is first called level, and each changed wallet from then on. In every mode a
 * sample is compared at intervals.
 */
import {
  ANSWER_BYTES,
  type ChainReader,
  type LogSource,
  RangeSizer,
  streamRanges,
  WALLETS_AT_ONCE,
} from '#libs/chain';
import { type AuditDifference, type IndexStore } from '#libs/db';
import {
  type Address,
  type BlockRef,
  type NegativeBalanceError,
  PermanentError,
  RetryableError,
} from '#libs/domain';
import { type Clock, type Logger } from '#libs/platform';
import { type BalanceAudit } from '#libs/verification';
import { type IndexStatus } from '../health/index-status.js';
import { type IndexOptions, verifiedUpTo } from '../settings/index-options.js';
import { type IndexWriter, RollBackError } from '../write/index-writer.js';
import { type SuspectRange, type SuspectRanges } from './suspect-ranges.js';
import { type Witnesses } from './witnesses.js';

/** Wallets per sample: half changed recently, half are drawn at random from all. */
const SAMPLE = 32;
/** Time between two samples. A sample costs as many contract calls as it has wallets. */
const SAMPLE_EVERY_MS = 5 * 60_000;
/** Shortest time between two comparisons of the changed wallets, which are due when blocks become final. */
const SWEEP_EVERY_MS = 60_000;
/** A sweep stops after this many differences, because each one is traced to its block. */
const MOST_TRACED = 100;
const PROGRESS_EVERY_MS = 2_000;
/** Blocks per request when final blocks are read once more. Few blocks become final between two comparisons. */
const BLOCKS_AT_ONCE = 1_000;

interface Difference extends AuditDifference {
  readonly block: bigint;
}

class WalletMismatchError extends PermanentError {
  constructor(mismatch: Difference) {
    super(
      'WALLET_MISMATCH',
      `At block ${mismatch.block} wallet ${mismatch.wallet} has ${mismatch.indexed} in the index but ${mismatch.contract} in the contract. ` +
        `Add another endpoint to RPC_URLS, check STAKE_EVENTS and STAKE_START_BLOCK, or, where the function means something else in this contract, set ` +
        'balanceView in STAKE_EVENTS to the right one or to []. If none of this helps: `index again` (docs/operating/troubleshooting.md#indexing-again).',
    );
  }
}

export class WalletBalances {
  private lastGood: bigint | undefined;
  private checkedAtMs = 0;
  /** Unix time, in ms, of the last sample beside sweeps, which also covers wallets that did not change. */
  private sampledAtMs: number | undefined;
  /**
   * First blocks of the ranges read again since the last check without differences. A difference that remains after one
   * re-read is accepted as real.
   */
  private readonly rereadBlocks = new Set<bigint>();
  /**
   * Wallets that differed since the last check without differences. Every sample includes them, so that a sample
   * without them does not count as a repair.
   */
  private readonly walletsThatDiffered = new Set<Address>();

  constructor(
    private readonly reader: ChainReader,
    private readonly source: LogSource,
    private readonly store: IndexStore,
    private readonly witnesses: Witnesses,
    private readonly audit: BalanceAudit,
    private readonly suspects: SuspectRanges,
    private readonly status: IndexStatus,
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly options: IndexOptions,
  ) {}

  /**
   * Whether a check is due: none has succeeded yet, or blocks became final since the last one and its interval is over.
   */
  isDue({ state, synced }: IndexWriter): boolean {
    const { finalised, verifiedNumber } = state;
    if (finalised === undefined) return false;
    const sinceMs = this.clock.nowMs() - this.checkedAtMs;
    if (this.witnesses.areBalances) {
      const isBehind = verifiedNumber === undefined || verifiedNumber < finalised.number;
      return isBehind && (!synced || sinceMs >= SWEEP_EVERY_MS);
    }
    if (this.lastGood === undefined) return true;
    return finalised.number > this.lastGood && sinceMs >= SAMPLE_EVERY_MS;
  }

  /**
   * Compares the wallets that are due.
   * @returns the newest block that is verified by this
   * @throws RollBackError if a wallet differs; WalletMismatchError if one still differs after its blocks were read again;
   * RetryableError if balances decide and no endpoint has the state of the finalised block or of the head
   */
  async check(writer: IndexWriter): Promise<bigint | undefined> {
    const { signal } = writer;
    const { areBalances } = this.witnesses;
    const differences = areBalances ? await this.sweepAndSample(writer) : await this.sample(writer);
    signal.throwIfAborted();
    await this.requireNone(differences, signal);
    this.lastGood = writer.state.finalised?.number;
    this.checkedAtMs = this.clock.nowMs();
    this.rereadBlocks.clear();
    this.walletsThatDiffered.clear();
    return areBalances ? this.lastGood : undefined;
  }

  /**
   * Finds out why a block takes more from a wallet than it has in the index. The wallet is compared at the indexed head,
   * so the blocks between that head and this block are written first. A block that is wrong itself is read again from its
   * receipts. Does nothing if no endpoint has the state of the indexed head.
   * @throws RollBackError; WalletMismatchError if the wallet still differs after its blocks were read again; `error` if
   * the block was read again already
   */
  async explain(error: NegativeBalanceError, writer: IndexWriter): Promise<void> {
    const { wallet, blockNumber } = error;
    await writer.settled();
    const { head, signal } = writer;
    const isEmpty = head.number < this.options.firstBlock;
    const differences = isEmpty ? [] : await this.compare([wallet], head);
    signal.throwIfAborted();
    if (differences === undefined) return;
    await this.requireNone(differences, signal);
    const from = head.number + 1n;
    const isNext = from === blockNumber;
    if (isNext && this.rereadBlocks.has(blockNumber)) throw error;
    if (isNext) this.rereadBlocks.add(blockNumber);
    const to = isNext ? blockNumber : blockNumber - 1n;
    this.logger.warn(
      { wallet, blockNumber, fromBlock: from, toBlock: to },
      'A block takes more from a wallet than it has in the index: reading blocks again',
    );
    this.suspects.add({ from, to, avoid: [], by: isNext ? 'receipts' : 'logs' });
    throw new RollBackError(head, 'repair');
  }

  /**
   * Forgets earlier re-reads, so that they do not count against the next answers: the endpoints may have been repaired
   * since.
   */
  forgetReadAgain(): void {
    this.rereadBlocks.clear();
    this.suspects.clear();
  }

  private async sweepAndSample(writer: IndexWriter): Promise<Difference[]> {
    const found = await this.sweep(writer);
    const nowMs = this.clock.nowMs();
    // The first sweep compares every wallet, so the interval of samples begins with it.
    this.sampledAtMs ??= nowMs;
    if (found.length > 0 || nowMs - this.sampledAtMs < SAMPLE_EVERY_MS) return found;
    this.sampledAtMs = nowMs;
    return this.sample(writer);
  }

  /** Compares a sample at the finalised block, if a node still has its state, and at the head. */
  private async sample(writer: IndexWriter): Promise<Difference[]> {
    const recent = writer.recentWallets(SAMPLE / 2);
    const sampled = await this.store.sampleWallets(SAMPLE - recent.length);
    const wallets = [...new Set([...recent, ...sampled, ...this.walletsThatDiffered])];
    for (const block of [writer.state.finalised, writer.head]) {
      const found = block && (await this.compare(wallets, block));
      if (found && found.length > 0) return found;
    }
    return [];
  }

  /** Compares every wallet that changed since the block at which all wallets were last compared. */
  private async sweep(writer: IndexWriter): Promise<Difference[]> {
    const { store, clock, logger, status } = this;
    const { finalised } = writer.state;
    if (finalised === undefined) return [];
    const above = verifiedUpTo(writer.state, this.options);
    const found: Difference[] = [];
    let compared = 0;
    let loggedAtMs = clock.nowMs();
    let after: Address | undefined;
    do {
      const page = { above, block: finalised.number, after, limit: WALLETS_AT_ONCE };
      const wallets = await store.changedWallets(page);
      found.push(...(await this.compareFinal(wallets, writer)));
      compared += wallets.length;
      after = wallets.length === WALLETS_AT_ONCE ? wallets.at(-1) : undefined;
      status.progressAtMs = clock.nowMs();
      if (clock.nowMs() - loggedAtMs >= PROGRESS_EVERY_MS) {
        loggedAtMs = clock.nowMs();
        logger.info({ compared }, 'Comparing wallets with the contract');
      }
    } while (after !== undefined && found.length < MOST_TRACED);
    const named = await this.rereadFinalWallets(writer);
    found.push(...(await this.compareFinal(named, writer)));
    compared += named.length;
    const { number: block } = finalised;
    logger.info({ compared, above, block, differences: found.length }, 'Compared wallets');
    return found;
  }

  /** The wallets that differ at the end of a block. Undefined if no endpoint has its state. */
  private async compare(
    wallets: readonly Address[],
    block: BlockRef,
  ): Promise<Difference[] | undefined> {
    if (wallets.length === 0) return [];
    const indexed = await this.store.balancesAt(wallets, block.number);
    const balances = wallets.map((wallet, place) => ({ wallet, balance: indexed[place] ?? 0n }));
    const { differences, isComplete } = await this.audit.compare(balances, block);
    return isComplete ? differences.map((one) => ({ ...one, block: block.number })) : undefined;
  }

  private async compareFinal(
    wallets: readonly Address[],
    { state, head }: IndexWriter,
  ): Promise<Difference[]> {
    if (wallets.length === 0) return [];
    for (const block of [state.finalised, head]) {
      const found = block && (await this.compare(wallets, block));
      if (found) return found;
    }
    throw new RetryableError(
      'UNVERIFIED_WALLETS',
      `No endpoint has the contract's state at block ${state.finalised?.number ?? head.number} or ${head.number}, so wallets cannot be compared`,
    );
  }

  /** @throws RollBackError, and the errors of `trace` */
  private async requireNone(
    differences: readonly Difference[],
    signal: AbortSignal,
  ): Promise<void> {
    if (differences.length === 0) return;
    for (const { wallet } of differences) this.walletsThatDiffered.add(wallet);
    throw new RollBackError(await this.trace(differences, signal), 'repair');
  }

  /**
   * Finds the block of each difference and marks it as suspect.
   * @returns the block before the first of them, to which the index must be rolled back
   */
  private async trace(differences: readonly Difference[], signal: AbortSignal): Promise<BlockRef> {
    const { reader, suspects, logger, status, clock } = this;
    const found = new Map<bigint, SuspectRange>();
    for (const difference of differences) {
      const suspect = await this.rangeOf(difference);
      if (this.rereadBlocks.has(suspect.from)) throw new WalletMismatchError(difference);
      if (found.has(suspect.from)) continue;
      found.set(suspect.from, suspect);
      logger.warn(
        { ...difference, fromBlock: suspect.from, toBlock: suspect.to },
        'A wallet’s balance is not what the contract says: reading these blocks again in another way',
      );
      status.progressAtMs = clock.nowMs();
    }
    const first = [...found.keys()].reduce((lowest, block) => (block < lowest ? block : lowest));
    const [before] = await reader.headers([first - 1n]);
    if (before === undefined)
      throw new RetryableError('NO_HEADER', `No endpoint has the header of block ${first - 1n}`);
    signal.throwIfAborted();
    for (const [block, suspect] of found) {
      this.rereadBlocks.add(block);
      suspects.add(suspect);
    }
    return before;
  }

  /**
   * Finds the block that caused a difference by the wallet's view at past blocks. Where no endpoint has their state,
   * returns all blocks since the last check without differences.
   */
  private async rangeOf({ wallet, block: bad }: Difference): Promise<SuspectRange> {
    const good = this.lastGood ?? this.options.firstBlock - 1n;
    const block = await firstDisagreement(good, bad, async (number) => {
      const [header] = await this.reader.headers([number]);
      const found = header && (await this.compare([wallet], header));
      return found && found.length === 0;
    });
    return block === undefined
      ? { from: good + 1n, to: bad, avoid: [], by: 'logs' }
      : { from: block, to: block, avoid: [], by: 'receipts' };
  }

  /**
   * Reads the blocks that became final since the last comparison of wallets once more, and returns the wallets of their
   * events. Above finality no node may have had all their logs yet; a wallet that was left out then, and had no other
   * event, shows in no other comparison.
   * @returns no wallets if every final block of a first sync was read twice
   * @throws AllEndpointsFailedError
   */
  private async rereadFinalWallets({ state, synced, signal }: IndexWriter): Promise<Address[]> {
    const { finalised, verifiedNumber } = state;
    const isFirstSync = verifiedNumber === undefined && !synced;
    if (finalised === undefined || isFirstSync) return [];
    const verified = verifiedUpTo(state, this.options);
    const options = this.witnesses.fetchOptions(true, signal);
    const answers = streamRanges(
      { from: verified + 1n, to: finalised.number },
      {
        fetch: (range) => this.source.fetch(range, options),
        sizer: new RangeSizer({
          targetBytes: ANSWER_BYTES,
          maxBlocks: BLOCKS_AT_ONCE,
          initialBlocks: BLOCKS_AT_ONCE,
        }),
        concurrency: () => 1,
        maxBufferedBytes: ANSWER_BYTES,
      },
      signal,
    );
    const wallets = new Set<Address>();
    for await (const { blocks } of answers) {
      for (const { deltas } of blocks) for (const { wallet } of deltas) wallets.add(wallet);
    }
    return [...wallets];
  }
}

/**
 * Finds the first block in (good, bad] at whose end `agrees` is false, by bisection.
 *
 * @param agrees whether index and contract agree at a block; undefined where the node no longer has the block's state
 * @returns undefined where the state that decides is not available
 */
export async function firstDisagreement(
  good: bigint,
  bad: bigint,
  agrees: (block: bigint) => Promise<boolean | undefined>,
): Promise<bigint | undefined> {
  let low = good;
  let high = bad;
  while (high - low > 1n) {
    const middle = (low + high) / 2n;
    const same = await agrees(middle);
    if (same === undefined) return undefined;
    if (same) low = middle;
    else high = middle;
  }
  return high;
}
