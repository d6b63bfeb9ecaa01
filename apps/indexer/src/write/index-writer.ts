/**
 * The only place in the program that changes the index in the database. A writer belongs to one leadership: it has that
 * lead's fencing token, and nothing can be written through it once the lead has ended.
 *
 * One range may be in a transaction while the next one is read and folded. Invariant: `stored` is what the last
 * successful transaction left in the database; `state`, with the remembered blocks and `underway`, is what the current
 * transaction will leave, so the next range builds on `state`. After a failed write both are unknown and `reload` must
 * read them again.
 */
import { LRUCache } from 'lru-cache';
import { type ReadRange, refOf } from '#libs/chain';
import { type IndexState, type IndexStore } from '#libs/db';
import {
  type Address,
  type BlockDeltas,
  type BlockHash,
  type BlockRef,
  dayOf,
  foldBlocks,
  type FoldedBlocks,
  type WalletState,
  type WalletStates,
  RetryableError,
} from '#libs/domain';
import { type IndexOptions, indexSettingsOf } from '../settings/index-options.js';

export interface IndexFacts {
  readonly finalised: BlockRef | undefined;
  /** Newest block up to which the events are verified. Undefined if verification has not advanced. */
  readonly verifiedNumber?: bigint | undefined;
  /** The index is level with the chain for the first time. Absent if this has not changed. */
  readonly synced?: true;
}

/** The indexed blocks, for the comparison with the chain. */
export interface IndexedChain {
  readonly head: BlockRef;
  readonly finalised: BlockRef | undefined;
  /** The indexed hash at a height. Known for the finalised block and all indexed blocks above it. */
  readonly hashAt: (number: bigint) => BlockHash | undefined;
}

interface IndexRows {
  readonly head: BlockRef;
  readonly folded?: FoldedBlocks;
  readonly blocks: readonly BlockRef[];
}

/** Blocks of the index are wrong: the loop removes them and reads them again. */
export class RollBackError extends RetryableError {
  /** @param to the newest block that stays */
  constructor(
    readonly to: BlockRef,
    readonly why: 'reorganisation' | 'repair',
  ) {
    super(
      'ROLL_BACK',
      `The blocks above block ${to.number} are wrong (${why}): reading them again`,
    );
  }
}

export class IndexWriter {
  /** Stored states. Any of them may be evicted at any moment. */
  private readonly cache: LRUCache<Address, WalletState>;
  /** The states that the current transaction writes, or that the last one wrote. */
  private underway: FoldedBlocks['wallets'] = new Map();
  private readonly remembered = new Map<bigint, BlockRef>();
  private pendingState: IndexState | undefined;
  private storedState: IndexState | undefined;
  /** The current transaction, or the last one if none is open. */
  private writing: Promise<void> = Promise.resolve();
  synced = false;

  private constructor(
    private readonly store: IndexStore,
    readonly fence: bigint,
    /** Aborts when the lead ends. */
    readonly signal: AbortSignal,
    cachedWallets: number,
  ) {
    this.cache = new LRUCache({ max: cachedWallets });
  }

  /**
   * Takes the lead over the stored index. From now on the database refuses every write of an earlier leader.
   * @param signal aborts when the lead ends; the writer is of no use from then on
   * @throws SettingsChangedError where another process has meanwhile created the index again with other settings
   */
  static async takeLead(
    store: IndexStore,
    options: IndexOptions,
    signal: AbortSignal,
  ): Promise<IndexWriter> {
    const fence = await store.takeLead({ settings: indexSettingsOf(options) });
    const writer = new IndexWriter(store, fence, signal, options.cachedWallets);
    await writer.reload();
    return writer;
  }

  /** Reads the stored index again, after a failed write as well. */
  async reload(): Promise<void> {
    await this.writing.catch(() => undefined);
    this.writing = Promise.resolve();
    this.forget();
    const state = await this.store.state();
    if (!state) throw new Error('There is no index to open');
    const blocks = await this.store.blocks(state.finalised?.number ?? state.head.number);
    // The finalised block is not among the stored ones while it is the block before the first one.
    for (const block of [state.finalised, ...blocks, state.head])
      if (block) this.remembered.set(block.number, block);
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
    const recent: Address[] = [];
    for (const wallet of this.cache.keys()) {
      if (recent.length === count) break;
      recent.push(wallet);
    }
    return recent;
  }

  /** Whether the index holds any balance change. */
  async hasWallets(): Promise<boolean> {
    return (await this.store.sampleWallets(1)).length > 0;
  }

  /**
   * Writes rows, head and facts of one range in one transaction. Returns as soon as all earlier ranges are written and
   * the transaction of this range has begun.
   * @returns the number of balance changes
   * @throws NegativeBalanceError for this range; FencedError, StaleHeadError and others where the write of an earlier
   * range failed, in which case this range is not written
   */
  async apply(range: ReadRange, facts: IndexFacts): Promise<number> {
    const states = await this.walletStates(range.blocks);
    const folded = foldBlocks(states, range.blocks);
    await this.settled();
    const final = facts.finalised?.number;
    const blocks = range.headers.filter((block) => final === undefined || block.number >= final);
    this.write({ head: refOf(range.head), folded, blocks }, facts);
    return folded.changes.length;
  }

  /**
   * Writes facts that come without a new block: a newer finalised block, a newer verified block, or that the index has
   * caught up.
   */
  async note(facts: IndexFacts): Promise<void> {
    await this.settled();
    this.write({ head: this.head, blocks: [] }, facts);
    await this.settled();
  }

  async rollback(to: BlockRef): Promise<{ changes: number; wallets: number }> {
    await this.settled();
    this.signal.throwIfAborted();
    const { head, fence } = this;
    this.forget();
    const undone = await this.store.rollback({ fence, head, to });
    await this.reload();
    return undone;
  }

  async halt(reason: string): Promise<void> {
    this.signal.throwIfAborted();
    await this.store.halt(this.fence, reason);
  }

  /** Clears the stored halt, after its cause has gone. */
  async resume(): Promise<void> {
    await this.settled();
    this.signal.throwIfAborted();
    await this.store.clearHalt(this.fence);
    await this.reload();
  }

  /**
   * The states of all wallets in the blocks. The caller holds them, so a write that ends meanwhile, and what it evicts
   * from the cache, changes nothing. A wallet of the current transaction is never read from the database.
   */
  private async walletStates(blocks: readonly BlockDeltas[]): Promise<WalletStates> {
    const states = new Map<Address, WalletState | undefined>();
    const missing: Address[] = [];
    for (const { deltas } of blocks) {
      for (const { wallet } of deltas) {
        if (states.has(wallet)) continue;
        const state = this.underway.get(wallet)?.after ?? this.cache.peek(wallet);
        states.set(wallet, state);
        if (state === undefined) missing.push(wallet);
      }
    }
    const [first] = blocks;
    if (missing.length === 0 || first === undefined) return states;
    const stored = await this.store.walletStates(missing, dayOf(first.timestampSeconds));
    for (const [wallet, state] of stored) states.set(wallet, state);
    return states;
  }

  /** Begins a transaction; `settled` reports how it ends. No other transaction is open. */
  private write({ head, folded, blocks }: IndexRows, facts: IndexFacts): void {
    this.signal.throwIfAborted();
    const { state, fence } = this;
    const finalised = facts.finalised ?? state.finalised;
    const verifiedNumber = facts.verifiedNumber ?? state.verifiedNumber;
    const total = state.total + (folded?.totalDelta ?? 0n);
    const next = { ...state, head, total, finalised, verifiedNumber };
    const writing = this.store.commit({
      ...{ fence, previousHead: state.head, head, blocks },
      ...(folded && { folded }),
      ...(finalised && { finalised }),
      ...(verifiedNumber !== undefined && { verifiedNumber }),
      ...(facts.synced && { synced: true }),
    });
    const wallets: FoldedBlocks['wallets'] = folded?.wallets ?? new Map();
    this.underway = wallets;
    this.pendingState = next;
    for (const block of [...blocks, head]) this.remembered.set(block.number, block);
    for (const number of this.remembered.keys()) {
      if (finalised && number < finalised.number) this.remembered.delete(number);
    }
    this.writing = writing.then(
      () => {
        this.storedState = next;
        this.synced ||= facts.synced ?? false;
        for (const { wallet, after } of wallets.values()) this.cache.set(wallet, after);
      },
      (error: unknown) => {
        this.forget();
        throw error;
      },
    );
    // The next caller that awaits `settled` gets the failure; this handler only keeps the rejection from counting as
    // unhandled.
    this.writing.catch(() => undefined);
  }

  private forget(): void {
    this.pendingState = undefined;
    this.storedState = undefined;
    this.underway = new Map();
    this.cache.clear();
    this.remembered.clear();
  }
}
