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
import { MemoryAuditRunStore } from './memory-audit-run-store.js';
import { MemoryIndexStore } from './memory-index-store.js';
import { MemoryPriceStore } from './memory-price-store.js';
import { MemoryDayLows, MemorySealedDayStore, MemorySealWriter } from './memory-seal-stores.js';
import { MemorySnapshotStore } from './memory-snapshot-store.js';
import { MemoryTables, type Public } from './memory-tables.js';

/** The database of the core's world: the stores of its programs, and their tables. */
export class MemoryDatabase {
  readonly tables = new MemoryTables();
  readonly index: Public<IndexStore> = new MemoryIndexStore(this.tables);
  readonly snapshots: Public<SnapshotStore> = new MemorySnapshotStore(this.tables);
  readonly prices: Public<PriceStore> = new MemoryPriceStore(this.tables);
  readonly days: Public<SealedDayStore> = new MemorySealedDayStore(this.tables);
  readonly writer: Public<SealWriter> = new MemorySealWriter(this.tables);
  readonly lows: Public<DayLows> = new MemoryDayLows(this.tables);
  readonly audits: Public<AuditRunStore> = new MemoryAuditRunStore(this.tables);

  /** Changes the balance of the wallet's newest row, as no program does. */
  change(wallet: Address): void {
    const { changes } = this.tables;
    const rows = changes.get(wallet) ?? [];
    changes.set(
      wallet,
      rows.map((row, at) => (at === rows.length - 1 ? { ...row, balance: row.balance + 1n } : row)),
    );
  }
}
