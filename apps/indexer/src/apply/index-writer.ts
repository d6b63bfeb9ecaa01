/**
 * The only place in the program that changes the index in the database.
 *
 * One range may be in a transaction while the next one is read and folded. Invariant: `stored` is what the last
 * successful transaction left in the database; `state` (with the remembered blocks and the cached wallets) is what the
 * current transaction will leave, so the next range builds on `state`. After a failed write both are unknown and
 * `reload` must read them again.
 */
import { type RangeAnswer, refOf } from '#libs/chain';
import { type IndexBatch, type IndexState, type IndexStore } from '#libs/db';
import {
  type Address,
  type BalanceDay,
  type BlockDeltas,
  type BlockHash,
  type BlockRef,
  dayOf,
  foldBlocks,
  type WalletState,
} from '#libs/domain';
import { type IndexedChain } from '../follow/next-step.js';
import { type IndexOptions, indexSettingsOf } from '../index-options.js';

/** Size of the cache of wallet states, in wallets of about 250 bytes each. */
const CACHED_WALLETS = 100_000;

export interface IndexFacts {
  readonly finalised: BlockRef | undefined;
  /** Newest block up to which the events are verified. Undefined where verification has not advanced. */
  readonly verifiedNumber?: bigint | undefined;
  readonly synced: boolean;
}

type IndexRows = Omit<
  IndexBatch,
  'fence' | 'previousHead' | 'finalised' | 'verifiedNumber' | 'synced'
>;

export class IndexWriter {
  /** Least recently changed wallets first. */
  private readonly wallets = new Map<Address, WalletState>();
  private readonly remembered = new Map<bigint, BlockRef>();
  private fence = -1n;
  private pendingState: IndexState | undefined;
  private storedState: IndexState | undefined;
  /** The current transaction, or the last one where none is open. */
  private writing: Promise<void> = Promise.resolve();
  synced = false;

  constructor(
    private readonly store: IndexStore,
    private readonly options: IndexOptions,
  ) {}

  /**
   * Takes the lead over the stored index. From now on the database refuses every write of an earlier leader.
   * @returns the new leader's fencing token
   * @throws SettingsChangedError where another process has meanwhile created the index anew with other settings
   */
  async takeLead(): Promise<bigint> {
    this.fence = await this.store.takeLead({ settings: indexSettingsOf(this.options) });
    await this.reload();
    return this.fence;
  }

  /**
   * Reads the stored index again under the same lead. Does not wait for a transaction that was left hanging under an
   * earlier lead.
   */
  async reload(): Promise<void> {
    this.forget();
    this.writing = Promise.resolve();
    const state = await this.store.state();
    if (!state) throw new Error('There is no index to open');
    const blocks = await this.store.blocks(state.finalised?.number ?? state.head.number);
    this.wallets.clear();
    this.remembered.clear();
    for (const block of [...blocks, state.head]) this.remembered.set(block.number, block);
    this.synced = state.syncedAt !== undefined;
    this.pendingState = state;
    this.storedState = state;
  }

  /** False after a failed write, until `reload` has read the stored state. */
  get isOpen(): boolean {
    return this.pendingState !== undefined;
  }

  /** The index as the current transaction will leave it. */
  get state(): IndexState {
    if (!this.pendingState) throw new Error('The index is not open');
    return this.pendingState;
  }

  /** The index as the last successful transaction left it. */
  get stored(): IndexState {
    if (!this.storedState) throw new Error('The index is not open');
    return this.storedState;
  }

  /**
   * Resolves when every pending write is committed.
   * @throws the error of a write that failed, see `apply`
   */
  settled(): Promise<void> {
    return this.writing;
  }

  get head(): BlockRef {
    return this.state.head;
  }

  get indexed(): IndexedChain {
    const { head, state } = this;
    const hashAt = (number: bigint): BlockHash | undefined => this.blockAt(number)?.hash;
    return { head, finalised: state.finalised, hashAt };
  }

  /** The indexed block at this height. Known for the finalised block and all indexed blocks above it. */
  blockAt(number: bigint): BlockRef | undefined {
    return this.remembered.get(number);
  }

  rememberedBlocks(): BlockRef[] {
    return [...this.remembered.values()].sort((a, b) => (a.number < b.number ? -1 : 1));
  }

  /** Wallets that changed most recently. */
  recentWallets(count: number): Address[] {
    return [...this.wallets.keys()].slice(-count);
  }

  /** Whether the index holds any balance change. */
  async hasWallets(): Promise<boolean> {
    if (this.wallets.size > 0) return true;
    const all = { above: -1n, block: this.head.number, after: undefined, limit: 1 };
    return (await this.store.changedWallets(all)).length > 0;
  }

  /**
   * Writes rows, head and facts of one range in one transaction. Returns as soon as all earlier ranges are written and
   * the transaction of this range has begun.
   * @returns the number of balance changes
   * @throws NegativeBalanceError for this range; FencedError, StaleHeadError and others where the write of an earlier
   * range failed, in which case this range is not written
   */
  async apply(answer: RangeAnswer, facts: IndexFacts): Promise<number> {
    await this.loadWallets(answer.blocks);
    const folded = foldBlocks(this.wallets, answer.blocks);
    await this.settled();
    const final = facts.finalised?.number;
    const rows: IndexRows = {
      head: refOf(answer.head),
      changes: folded.changes,
      ...this.splitDays(folded.days),
      total: this.state.total + folded.totalDelta,
      blocks: answer.headers.filter((block) => final === undefined || block.number >= final),
    };
    this.write(rows, facts);
    for (const [wallet, walletState] of folded.states) {
      this.wallets.delete(wallet);
      this.wallets.set(wallet, walletState);
    }
    return folded.changes.length;
  }

  /**
   * Writes facts that come without a new block: a newer finalised block, a newer verified block, or that the index has
   * caught up.
   */
  async note(facts: IndexFacts): Promise<void> {
    await this.settled();
    const { head, total } = this.state;
    this.write({ head, total, changes: [], days: [], blocks: [] }, facts);
    await this.settled();
  }

  async rollback(to: BlockRef): Promise<{ changes: number; wallets: number }> {
    await this.settled();
    const { head } = this;
    this.forget();
    const undone = await this.store.rollback({ fence: this.fence, head, to });
    await this.reload();
    return undone;
  }

  async halt(reason: string): Promise<void> {
    await this.store.halt(this.fence, reason);
  }

  /** Clears the stored halt, after its cause has gone. */
  async resume(): Promise<void> {
    await this.store.clearHalt(this.fence);
    this.pendingState = { ...this.state, halted: undefined };
    this.storedState = this.pendingState;
  }

  /**
   * Separates days with a stored row from days without one. A wallet's day has a row where the wallet's newest stored
   * change is dated on that day.
   */
  private splitDays(all: readonly BalanceDay[]): { days: BalanceDay[]; newDays: BalanceDay[] } {
    const days: BalanceDay[] = [];
    const newDays: BalanceDay[] = [];
    for (const day of all) {
      const state = this.wallets.get(day.wallet);
      const isNew = state === undefined || dayOf(state.sinceSeconds) !== day.day;
      (isNew ? newDays : days).push(day);
    }
    return { days, newDays };
  }

  /** Begins a transaction; `settled` reports how it ends. */
  private write(rows: IndexRows, facts: IndexFacts): void {
    const { state } = this;
    const finalised = facts.finalised ?? state.finalised;
    const verifiedNumber = facts.verifiedNumber ?? state.verifiedNumber;
    const next = { ...state, head: rows.head, total: rows.total, finalised, verifiedNumber };
    const writing = this.store
      .commit({
        ...rows,
        fence: this.fence,
        previousHead: state.head,
        ...(finalised && { finalised }),
        ...(verifiedNumber !== undefined && { verifiedNumber }),
        ...(facts.synced && { synced: true }),
      })
      .then(
        () => {
          if (this.writing !== writing) return;
          this.storedState = next;
          this.synced ||= facts.synced;
          this.forgetOldWallets();
        },
        (error: unknown) => {
          if (this.writing === writing) this.forget();
          throw error;
        },
      );
    // The next caller that awaits `writing` gets the failure; this handler only keeps the rejection from counting as
    // unhandled.
    writing.catch(() => undefined);
    this.writing = writing;
    this.pendingState = next;
    for (const block of [...rows.blocks, rows.head]) this.remembered.set(block.number, block);
    for (const number of this.remembered.keys()) {
      if (finalised && number < finalised.number) this.remembered.delete(number);
    }
  }

  private forget(): void {
    this.pendingState = undefined;
    this.storedState = undefined;
  }

  /** Evicts only after a commit, because an evicted wallet is read from the database again. */
  private forgetOldWallets(): void {
    for (const wallet of this.wallets.keys()) {
      if (this.wallets.size <= CACHED_WALLETS) return;
      this.wallets.delete(wallet);
    }
  }

  private async loadWallets(blocks: readonly BlockDeltas[]): Promise<void> {
    const missing = new Set<Address>();
    for (const { deltas } of blocks) {
      for (const { wallet } of deltas) if (!this.wallets.has(wallet)) missing.add(wallet);
    }
    const [first] = blocks;
    if (missing.size === 0 || !first) return;
    const states = await this.store.walletStates([...missing], dayOf(first.timestampSeconds));
    for (const [wallet, state] of states) this.wallets.set(wallet, state);
  }
}
