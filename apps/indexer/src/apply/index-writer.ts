/**
 * The indexer's hand on the database: the only place in the program that changes the index.
 *
 * Invariant: what this object says of the index (head, total, remembered blocks, cached wallets) is what the last successful
 * transaction left there. After any failed write it is unknown and must be read again with `open`.
 */
import { LRUCache } from 'lru-cache';
import { type RangeAnswer } from '#libs/chain';
import { type IndexBatch, type IndexState, type IndexStore } from '#libs/db';
import {
  type Address,
  type BlockDeltas,
  type BlockHash,
  type BlockRef,
  foldBlocks,
  type WalletState,
} from '#libs/domain';

/** Wallets whose state is kept at hand between batches; about 250 bytes each. */
const CACHED_WALLETS = 200_000;

/** What is known beyond the rows themselves when they are written. */
export interface IndexFacts {
  readonly finalised: BlockRef | undefined;
  /** The contract's own total at the end of the range agreed. */
  readonly verified: boolean;
  /** With this range the index has caught up with the chain. */
  readonly synced: boolean;
}

type IndexWrite = Pick<IndexBatch, 'head' | 'changes' | 'days' | 'total' | 'blocks'> & {
  readonly facts: IndexFacts;
};

export class IndexWriter {
  private readonly wallets = new LRUCache<Address, WalletState>({ max: CACHED_WALLETS });
  private readonly remembered = new Map<bigint, BlockRef>();
  private fence = -1n;
  private current: IndexState | undefined;
  /** The index has once been level with the chain. */
  synced = false;

  constructor(private readonly store: IndexStore) {}

  /** Takes the lead over the stored index: from here on no earlier leader can write. */
  async open(): Promise<void> {
    this.fence = await this.store.takeLead();
    await this.reload();
  }

  /** Reads the stored index again, still under the same lead. */
  async reload(): Promise<void> {
    this.current = undefined;
    const state = await this.store.state();
    if (!state) throw new Error('There is no index to open');
    const blocks = await this.store.blocks(state.finalised?.number ?? state.head.number);
    this.wallets.clear();
    this.remembered.clear();
    for (const block of [...blocks, state.head]) this.remembered.set(block.number, block);
    this.synced = state.syncedAt !== undefined;
    this.current = state;
  }

  /** False after a failed write, until `reload` has read what it left. */
  get isOpen(): boolean {
    return this.current !== undefined;
  }

  get state(): IndexState {
    if (!this.current) throw new Error('The index is not open');
    return this.current;
  }

  get head(): BlockRef {
    return this.state.head;
  }

  hashAt(number: bigint): BlockHash | undefined {
    return this.remembered.get(number)?.hash;
  }

  /** The finalised block and every indexed block above it, ascending. */
  rememberedBlocks(): BlockRef[] {
    return [...this.remembered.values()].sort((a, b) => (a.number < b.number ? -1 : 1));
  }

  /** Wallets that changed most recently, for checks against the chain. */
  recentWallets(count: number): Address[] {
    const recent: Address[] = [];
    for (const wallet of this.wallets.keys()) {
      if (recent.length >= count) break;
      recent.push(wallet);
    }
    return recent;
  }

  /**
   * Writes one range: rows, head and facts in one transaction.
   * @returns how many balances changed
   * @throws NegativeBalanceError, FencedError, HeadMovedError; nothing is written then
   */
  async apply(answer: RangeAnswer, facts: IndexFacts): Promise<number> {
    const folded = foldBlocks(await this.walletStates(answer.blocks), answer.blocks);
    const { number, hash, timestampSeconds } = answer.head;
    const final = facts.finalised?.number;
    await this.commit({
      head: { number, hash, timestampSeconds },
      changes: folded.changes,
      days: folded.days,
      total: this.state.total + folded.totalDelta,
      blocks: answer.headers.filter((block) => final === undefined || block.number >= final),
      facts,
    });
    for (const [wallet, walletState] of folded.states) this.wallets.set(wallet, walletState);
    return folded.changes.length;
  }

  /** Writes what became known without a new block: a newer finalised block, or that the index has caught up. */
  async note(facts: IndexFacts): Promise<void> {
    const { head, total } = this.state;
    await this.commit({ head, total, changes: [], days: [], blocks: [], facts });
  }

  /** Undoes everything above `to`. */
  async rollback(to: BlockRef): Promise<{ changes: number; wallets: number }> {
    const { head } = this;
    this.current = undefined;
    const undone = await this.store.rollback({ fence: this.fence, head, to });
    await this.reload();
    return undone;
  }

  async halt(reason: string): Promise<void> {
    await this.store.halt(this.fence, reason);
  }

  /** Takes back a halt: what stopped an earlier run no longer stands. */
  async resume(): Promise<void> {
    await this.store.clearHalt(this.fence);
    this.current = { ...this.state, halted: undefined };
  }

  private async commit(write: IndexWrite): Promise<void> {
    const { state } = this;
    const { facts, ...rows } = write;
    const finalised = facts.finalised ?? state.finalised;
    const verifiedNumber = facts.verified ? rows.head.number : state.verifiedNumber;
    this.current = undefined;
    await this.store.commit({
      ...rows,
      fence: this.fence,
      previousHead: state.head,
      ...(finalised && { finalised }),
      ...(verifiedNumber !== undefined && { verifiedNumber }),
      ...(facts.synced && { synced: true }),
    });
    for (const block of [...rows.blocks, rows.head]) this.remembered.set(block.number, block);
    for (const number of this.remembered.keys()) {
      if (finalised && number < finalised.number) this.remembered.delete(number);
    }
    this.synced ||= facts.synced;
    this.current = { ...state, head: rows.head, total: rows.total, finalised, verifiedNumber };
  }
  private async walletStates(
    blocks: readonly BlockDeltas[],
  ): Promise<ReadonlyMap<Address, WalletState>> {
    const states = new Map<Address, WalletState>();
    const missing = new Set<Address>();
    for (const { deltas } of blocks) {
      for (const { wallet } of deltas) {
        if (states.has(wallet) || missing.has(wallet)) continue;
        const cached = this.wallets.get(wallet);
        if (cached) states.set(wallet, cached);
        else missing.add(wallet);
      }
    }
    if (missing.size === 0) return states;
    for (const [wallet, state] of await this.store.walletStates([...missing]))
      states.set(wallet, state);
    return states;
  }
}
