/** The database of the core's world: the stores of its programs, and its tables as they are after each step. */
import {
  type AuditRunStore,
  type DayLows,
  type IndexStore,
  type PriceStore,
  type SealedDayStore,
  type SealWriter,
  type SnapshotStore,
} from '#libs/db';
import { type Address } from '#libs/domain';
import { type Scheduler } from '../kernel/index.js';
import { MemoryAuditRunStore } from './memory/memory-audit-run-store.js';
import { MemoryIndexStore } from './memory/memory-index-store.js';
import { MemoryPriceStore } from './memory/memory-price-store.js';
import {
  MemoryDayLows,
  MemorySealedDayStore,
  MemorySealWriter,
} from './memory/memory-seal-stores.js';
import { MemorySnapshotStore } from './memory/memory-snapshot-store.js';
import { MemoryTables, type Public } from './memory/memory-tables.js';

export interface WorldDatabase {
  readonly tables: MemoryTables;
  readonly index: Public<IndexStore>;
  readonly snapshots: Public<SnapshotStore>;
  /** Absent: the worlds on this database read no prices. */
  readonly prices: Public<PriceStore> | undefined;
  readonly days: Public<SealedDayStore>;
  readonly writer: Public<SealWriter>;
  readonly lows: Public<DayLows>;
  readonly audits: Public<AuditRunStore>;
  /** Reads what was written, into `tables`. */
  refresh(): Promise<void>;
  /** Changes the balance of the wallet's newest row, as no program does. */
  change?(wallet: Address): void;
}

export type OpenDatabase = (scheduler: Scheduler) => WorldDatabase | Promise<WorldDatabase>;

/** Methods that write: what they did stands although their answer may be lost. */
export const WRITES: ReadonlySet<string> = new Set([
  ...['create', 'takeLead', 'commit', 'rollback', 'rewind', 'recountTotal', 'halt', 'clearHalt'],
  ...['recordFinding', 'record', 'hold', 'seal', 'forgetLists', 'recheck', 'rechecked'],
]);

export async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

export class MemoryDatabase implements WorldDatabase {
  readonly tables = new MemoryTables();
  readonly index = new MemoryIndexStore(this.tables);
  readonly snapshots = new MemorySnapshotStore(this.tables);
  readonly prices = new MemoryPriceStore(this.tables);
  readonly days = new MemorySealedDayStore(this.tables);
  readonly writer = new MemorySealWriter(this.tables);
  readonly lows = new MemoryDayLows(this.tables);
  readonly audits = new MemoryAuditRunStore(this.tables);

  refresh(): Promise<void> {
    return Promise.resolve();
  }

  change(wallet: Address): void {
    const { changes } = this.tables;
    const rows = changes.get(wallet) ?? [];
    changes.set(
      wallet,
      rows.map((row, at) => (at === rows.length - 1 ? { ...row, balance: row.balance + 1n } : row)),
    );
  }
}
