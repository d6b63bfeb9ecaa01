import {
  type AskedDays,
  type AskedHistory,
  type AskedWallet,
  type HistoryRead,
  type SnapshotRead,
  type SnapshotState,
  type SnapshotStore,
  type WindowRead,
  type WindowSink,
} from '#libs/db';
import { type Address, type DayBalance } from '#libs/domain';
import { newestPrice } from './memory-price-store.js';
import { type MemoryTables, type Public } from './memory-tables.js';

/** The longest window and what is carried into it. */
const MOST_DAYS = 31;

export class MemorySnapshotStore implements Public<SnapshotStore> {
  private last: { readonly version: number; readonly state: SnapshotState } | undefined;

  constructor(private readonly tables: MemoryTables) {}

  get seen(): SnapshotState | undefined {
    return this.last?.state;
  }

  read(asked: readonly AskedWallet[] = []): Promise<SnapshotRead | undefined> {
    const state = this.readState();
    return Promise.resolve(state && { state, daysTexts: asked.map((one) => this.daysText(one)) });
  }

  readWindow<S extends WindowSink>(
    wallets: readonly Address[],
    { firstDay, endDay }: AskedDays,
    begin: (state: SnapshotState) => S,
  ): Promise<WindowRead<S> | undefined> {
    const state = this.readState();
    if (state === undefined) return Promise.resolve(undefined);
    const sink = begin(state);
    const found = new Map<Address, readonly DayBalance[]>();
    for (const wallet of wallets) {
      const days = this.tables.days.get(wallet);
      if (days === undefined) continue;
      const before = days.findLast(({ day }) => day < firstDay);
      const inside = days.filter(({ day }) => day >= firstDay && day < endDay);
      found.set(wallet, [...inside, ...(before ? [before] : [])]);
    }
    sink.add(wallets, found);
    return Promise.resolve({ state, sink });
  }

  readHistory({ wallet, after, limit }: AskedHistory): Promise<HistoryRead | undefined> {
    const state = this.readState();
    const rows = this.tables.changes.get(wallet);
    const changes = rows?.filter(({ block }) => block > after).slice(0, limit);
    return Promise.resolve(state && { state, changes });
  }

  private readState(): SnapshotState | undefined {
    const { tables } = this;
    const { state, version, generation, priceHold, findings } = tables;
    if (state === undefined) return undefined;
    if (this.last?.version === version) return this.last.state;
    const { head, finalised, syncedAt, halted, chainId, stakeContract, tokenContract } = state;
    const { tokenSymbol, tokenDecimals } = state;
    const read: SnapshotState = {
      ...{ generation, head, syncedAt, chainId, stakeContract, tokenContract },
      ...{ tokenSymbol, tokenDecimals, findings },
      price: priceHold === undefined ? newestPrice(tables) : undefined,
      finalisedSeconds: finalised?.timestampSeconds,
      haltedReason: halted?.reason,
    };
    this.last = { version, state: read };
    return read;
  }

  private daysText({ wallet, endDay }: AskedWallet): string | undefined {
    const days = this.tables.days.get(wallet);
    const newest = days
      ?.filter(({ day }) => day < endDay)
      .slice(-MOST_DAYS)
      .reverse();
    return (
      newest &&
      JSON.stringify(
        newest.map(({ day, low, closing }) => [day, low?.toString() ?? null, closing.toString()]),
      )
    );
  }
}
