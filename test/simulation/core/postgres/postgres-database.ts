/**
 * The core's world on PostgreSQL: the stores of production on a real server. A step of the world waits for the server's
 * answer, so that the order of the calls is decided by the world alone.
 */
import {
  AuditRunStore,
  type Database,
  DayLows,
  IndexStore,
  SealedDayStore,
  SealWriter,
  SnapshotStore,
} from '#libs/db';
import { type Address, type DayBalance, parseAddress } from '#libs/domain';
import { type Scheduler } from '../../kernel/index.js';
import { MemoryTables, type Public, type StoredChange } from '../memory/memory-tables.js';
import { collected, type WorldDatabase, WRITES } from '../world-database.js';

export class PostgresDatabase implements WorldDatabase {
  readonly tables = new MemoryTables();
  readonly index: Public<IndexStore>;
  readonly snapshots: Public<SnapshotStore>;
  /** Prices are judged by the server's clock, which is not the world's. */
  readonly prices = undefined;
  readonly days: Public<SealedDayStore>;
  readonly writer: Public<SealWriter>;
  readonly lows: Public<DayLows>;
  readonly audits: Public<AuditRunStore>;
  private isStale = false;

  /** @param database empty */
  constructor(
    private readonly database: Database,
    private readonly scheduler: Scheduler,
  ) {
    this.index = this.real(new IndexStore(database));
    this.snapshots = this.real(new SnapshotStore(database));
    this.days = this.real(new SealedDayStore(database));
    this.writer = this.real(new SealWriter(database));
    const stored = new DayLows(database);
    const lows = this.real(stored);
    this.lows = {
      all: async function* (day) {
        yield* await scheduler.outside(() => collected(stored.all(day)));
      },
      total: (day) => lows.total(day),
      changed: (blocks, take) => lows.changed(blocks, take),
    };
    this.audits = this.real(new AuditRunStore(database));
  }

  refresh(): Promise<void> {
    if (!this.isStale) return Promise.resolve();
    this.isStale = false;
    return this.scheduler.outside(() => this.read());
  }

  /** The store with the real clock and timers, which its connections need. */
  private real<T extends object>(store: T): T {
    return new Proxy(store, {
      get: (target, name): unknown => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        return (...values: unknown[]): unknown => {
          this.isStale ||= WRITES.has(String(name));
          return this.scheduler.outside(() => Reflect.apply(value, target, values) as unknown);
        };
      },
    });
  }

  private async read(): Promise<void> {
    const { tables, database } = this;
    const index = new IndexStore(database);
    tables.state = await index.state();
    tables.changes = await this.changes();
    tables.days = await this.dayRows();
    const totals = await this.rows<{ day: number; total: string }>(
      'SELECT day, total FROM staking.day_total ORDER BY day',
    );
    tables.totals = new Map(totals.map(({ day, total }) => [day, BigInt(total)]));
    tables.blocks = new Map((await index.blocks(0n)).map((block) => [block.number, block]));
    tables.findings = (await new SnapshotStore(database).read())?.state.findings ?? new Set();
    const days = new SealedDayStore(database);
    for (const { day } of await days.page({ limit: 100 }))
      tables.sealed.set(day, await days.revisions(day));
    tables.recheckFrom = (await days.summary()).recheckFrom ?? undefined;
    const { entries } = await new AuditRunStore(database).list({ limit: 100 });
    tables.audits.splice(0, Infinity, ...[...entries].reverse());
    tables.version++;
  }

  private async changes(): Promise<Map<Address, StoredChange[]>> {
    const rows = await this.rows<Record<'wallet' | 'block' | 'seconds' | 'balance', string>>(
      `SELECT '0x' || encode(wallet, 'hex') AS wallet, block, seconds, balance
       FROM staking.balance_change ORDER BY wallet, block`,
    );
    return byWallet(rows, ({ block, seconds, balance }) => ({
      block: BigInt(block),
      seconds: Number(seconds),
      balance: BigInt(balance),
    }));
  }

  private async dayRows(): Promise<Map<Address, DayBalance[]>> {
    type Row = Record<'wallet' | 'closing', string> & { day: number; low: string | null };
    const rows = await this.rows<Row>(
      `SELECT '0x' || encode(wallet, 'hex') AS wallet, day, low, closing
       FROM staking.balance_day ORDER BY wallet, day`,
    );
    return byWallet(rows, ({ day, low, closing }) => ({
      day,
      low: low === null ? null : BigInt(low),
      closing: BigInt(closing),
    }));
  }

  private async rows<T extends object>(text: string): Promise<T[]> {
    return (await this.database.pool.query<T>(text)).rows;
  }
}

function byWallet<R extends { readonly wallet: string }, V>(
  rows: readonly R[],
  valueOf: (row: R) => V,
): Map<Address, V[]> {
  const found = new Map<Address, V[]>();
  for (const row of rows) {
    const wallet = parseAddress(row.wallet);
    if (wallet === undefined) throw new Error(`${row.wallet} is no address`);
    found.set(wallet, [...(found.get(wallet) ?? []), valueOf(row)]);
  }
  return found;
}
