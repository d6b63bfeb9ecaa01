/**
 * Replaces rows of the index by the rows that the chain gives. A repair takes the lead from the indexer: it raises the
 * fence, so that the indexer cannot write what it computed from the old rows, and reads the repaired ones under a new
 * lead. What is indexed above the block of the repair is taken back, and the indexer reads it again.
 */
import { type PoolClient } from 'pg';
import {
  type Address,
  type BalanceChange,
  type BalanceDay,
  type BlockRef,
  type CorrectedDays,
  correctedDays,
  dayOf,
  compareRows,
  NO_ROWS,
  PermanentError,
  type RowDifference,
  type WalletRows,
} from '#libs/domain';
import { type Database, run } from '../connection/database.js';
import { named } from '../connection/named.js';
import { insertCorrection } from './correction-rows.js';
import { type AuditNote, noteCommand } from '../redemption/audit-log.js';
import { addressBytes, addressOf, byteaArray, hexOf } from '../connection/rows.js';
import { copyChanges, copyDays } from './index-store.js';
import { CLEAR_WALLETS } from './finding-store.js';
import { LOCK_STATE, type LockedState } from './index-lead.js';
import { rollBack } from './rollback.js';

const REPAIR_TIMEOUT_MS = 15 * 60_000;

/** Wallets whose correct rows are known, and figures of the whole chain up to the same block. */
export interface RepairBatch {
  /** Fingerprint of the index that was compared. */
  readonly fingerprint: string;
  /** The final block up to which the chain was read. */
  readonly block: BlockRef;
  /** The sum of all balances at the end of that block. */
  readonly total: bigint;
  /** The same at the end of each day with a balance change, ascending. */
  readonly dayTotals: ReadonlyMap<number, bigint>;
  /** All rows of these wallets up to that block. */
  readonly correct: ReadonlyMap<Address, WalletRows>;
  readonly stakeSet: string;
  /** The operator's words; partners read them. */
  readonly reason: string;
  readonly actor: string;
  readonly note: AuditNote;
}

export interface StoredRows extends WalletRows {
  /** The last day that can be compared; undefined: all can. */
  readonly upToDay: number | undefined;
}

export class IndexChangedError extends PermanentError {
  constructor() {
    super(
      'INDEX_CHANGED',
      'The index was taken back below the block of the comparison, or made again, meanwhile. Nothing was changed; run the command again.',
    );
  }
}

const CHANGES = named<{ wallets: Buffer; block: bigint }>(
  'repair_changes',
  `SELECT encode(wallet, 'hex') AS wallet, block, seconds, balance FROM staking.balance_change
    WHERE wallet = ANY (:wallets::bytea[]) AND block <= :block ORDER BY wallet, block`,
);

const DAYS = named<{ wallets: Buffer }>(
  'repair_days',
  `SELECT encode(wallet, 'hex') AS wallet, day, low, closing FROM staking.balance_day
    WHERE wallet = ANY (:wallets::bytea[]) ORDER BY wallet, day`,
);

const CHANGED_ABOVE = named<{ wallets: Buffer; block: bigint }>(
  'repair_changed_above',
  `SELECT encode(w.wallet, 'hex') AS wallet FROM unnest(:wallets::bytea[]) AS w (wallet)
    WHERE EXISTS (SELECT FROM staking.balance_change c WHERE c.wallet = w.wallet AND c.block > :block)`,
);

const GAINED_ABOVE = named<{ block: bigint }>(
  'repair_gained_above',
  `SELECT coalesce(sum(newest.balance - coalesce(before.balance, 0)), 0) AS gained,
      (SELECT total FROM staking.index_state) AS total
    FROM (SELECT DISTINCT ON (wallet) wallet, balance FROM staking.balance_change WHERE block > :block ORDER BY wallet, block DESC) AS newest
    LEFT JOIN LATERAL (SELECT balance FROM staking.balance_change
      WHERE wallet = newest.wallet AND block <= :block ORDER BY block DESC LIMIT 1) AS before ON true`,
);

/** The total of a wrong index may be too small for the rollback: no total may be below 0. It is set right afterwards. */
const LARGEST_TOTAL = 10n ** 77n;

const WRONG_TOTALS = named<{ day: number; days: string; totals: string }>(
  'repair_wrong_day_totals',
  `SELECT count(*)::int AS wrong FROM (
      SELECT d.day, d.total, coalesce((SELECT u.total FROM unnest(:days::int[], :totals::numeric[]) AS u (day, total)
        WHERE u.day <= d.day ORDER BY u.day DESC LIMIT 1), 0) AS correct
      FROM staking.day_total d
      UNION ALL
      SELECT u.day, NULL, u.total FROM unnest(:days::int[], :totals::numeric[]) AS u (day, total)
      WHERE NOT EXISTS (SELECT FROM staking.day_total d WHERE d.day = u.day)
    ) AS compared WHERE day < :day AND total IS DISTINCT FROM correct`,
);

/** All stored days up to the head, and those that are missing. */
const SET_DAY_TOTALS = named<{ days: string; totals: string }>(
  'repair_day_totals',
  `WITH u AS (SELECT * FROM unnest(:days::int[], :totals::numeric[]) AS u (day, total)),
    stored AS (
      UPDATE staking.day_total d
        SET total = coalesce((SELECT u.total FROM u WHERE u.day <= d.day ORDER BY u.day DESC LIMIT 1), 0)
    )
    INSERT INTO staking.day_total (day, total) SELECT day, total FROM u
      WHERE NOT EXISTS (SELECT FROM staking.day_total d WHERE d.day = u.day)`,
);

/** The new fence ends the lead of the running indexer; a trigger renews the generation with it. */
const TAKE_OVER = named<{ total: bigint }>(
  'repair_take_over',
  'UPDATE staking.index_state SET fence = fence + 1, total = :total, updated_at = now()',
);

const REMOVE_CHANGES = named<{ wallets: Buffer; blocks: string }>(
  'repair_remove_changes',
  `DELETE FROM staking.balance_change c USING unnest(:wallets::bytea[], :blocks::bigint[]) AS u (wallet, block)
    WHERE c.wallet = u.wallet AND c.block = u.block`,
);

const REMOVE_DAYS = named<{ wallets: Buffer; days: string }>(
  'repair_remove_days',
  `DELETE FROM staking.balance_day d USING unnest(:wallets::bytea[], :days::int[]) AS u (wallet, day)
    WHERE d.wallet = u.wallet AND d.day = u.day`,
);

/** The sealed days among those whose amounts were wrong, and all days from the first of them on to work out again. */
const DOUBT_DAYS = named<{ firsts: string; lasts: string }>(
  'repair_doubt_days',
  `WITH sealed AS (
      SELECT DISTINCT s.day FROM staking.sealed_day s
      JOIN unnest(:firsts::int[], :lasts::int[]) AS u (first, last) ON s.day BETWEEN u.first AND u.last
    ), doubted AS (
      INSERT INTO staking.doubtful_day (day) SELECT day FROM sealed ON CONFLICT DO NOTHING
    )
    INSERT INTO staking.seal_recheck AS noted (from_day) SELECT min(day) FROM sealed HAVING count(*) > 0
    ON CONFLICT (only_row) DO UPDATE SET from_day = least(noted.from_day, excluded.from_day)`,
);

export class RepairStore {
  constructor(private readonly database: Database) {}

  /**
   * The stored rows of wallets up to a block. Of a wallet that changed again after the block, the rows of the block's
   * day and later are left out: they hold the later changes.
   */
  storedRows(wallets: readonly Address[], block: BlockRef): Promise<Map<Address, StoredRows>> {
    const day = dayOf(block.timestampSeconds);
    return this.database.transaction(async (client) => {
      const rows = await readRows(client, wallets, block);
      const changed = await run<{ wallet: string }>(
        client,
        CHANGED_ABOVE({ wallets: byteaArray(wallets), block: block.number }),
      );
      const later = new Set(changed.map(({ wallet }) => addressOf(wallet)));
      return new Map(
        [...rows].map(([wallet, { changes, days }]) => {
          const upToDay = later.has(wallet) ? day - 1 : undefined;
          const kept = upToDay === undefined ? days : days.filter((of) => of.day <= upToDay);
          return [wallet, { changes, days: kept, upToDay }];
        }),
      );
    });
  }

  /**
   * By how much the stored total differs from a sum at the end of a block. One statement reads the total and what was
   * gained above the block, since the indexer goes on writing both.
   */
  async totalOff(block: BlockRef, sum: bigint): Promise<bigint> {
    const [row] = await this.database.query<{ gained: string; total: string }>(
      GAINED_ABOVE({ block: block.number }),
    );
    if (row === undefined) return 0n;
    return BigInt(row.total) - BigInt(row.gained) - sum;
  }

  /** How many days before that of the block have another sum than the chain, or none. */
  async wrongDayTotals(block: BlockRef, dayTotals: ReadonlyMap<number, bigint>): Promise<number> {
    const day = dayOf(block.timestampSeconds);
    const asked = WRONG_TOTALS({ day, ...totalArrays(dayTotals) });
    const [row] = await this.database.query<{ wrong: number }>(asked);
    return row?.wrong ?? 0;
  }

  /**
   * Repairs some wallets and the index's total in one transaction, and writes the correction, the audit row, and which
   * sealed days have to be worked out again. Rows that are right by now are left alone.
   * @throws IndexChangedError, DatabaseUnavailableError, DatabaseRefusedError
   */
  async repair(batch: RepairBatch): Promise<CorrectedDays[]> {
    return this.database.transaction(async (client) => {
      await takeOver(client, batch);
      return replaceRows(client, batch);
    }, REPAIR_TIMEOUT_MS);
  }
}

async function takeOver(
  client: PoolClient,
  { block, fingerprint, total, dayTotals }: RepairBatch,
): Promise<void> {
  const [state] = await run<LockedState>(client, LOCK_STATE({}));
  const head = BigInt(state?.head_number ?? -1);
  const isOtherBlock = head === block.number && state?.head_hash !== hexOf(block.hash);
  if (state?.fingerprint !== fingerprint || head < block.number || isOtherBlock) {
    throw new IndexChangedError();
  }
  if (head > block.number) {
    await client.query(TAKE_OVER({ total: LARGEST_TOTAL }));
    await rollBack(client, block);
  }
  await client.query(TAKE_OVER({ total }));
  await client.query(SET_DAY_TOTALS(totalArrays(dayTotals)));
}

async function replaceRows(client: PoolClient, batch: RepairBatch): Promise<CorrectedDays[]> {
  const { block, correct, actor, note } = batch;
  const wallets = [...correct.keys()];
  const day = dayOf(block.timestampSeconds);
  const stored = await readRows(client, wallets, block);
  const differences: RowDifference[] = [];
  const days: CorrectedDays[] = [];
  for (const [wallet, rows] of correct) {
    const both = { stored: stored.get(wallet) ?? NO_ROWS, correct: rows };
    differences.push(compareRows(both.stored, rows));
    days.push(...correctedDays(wallet, both, day + 1));
  }
  await writeDifferences(client, differences);
  const [firsts, lasts] = [days.map((of) => of.firstDay), days.map((of) => of.lastDay)];
  await client.query(DOUBT_DAYS({ firsts: `{${firsts.join()}}`, lasts: `{${lasts.join()}}` }));
  await client.query(CLEAR_WALLETS({ wallets: wallets.map(addressBytes) }));
  await insertCorrection(client, batch, { days, differences });
  await noteCommand(client, actor, note);
  return days;
}

function totalArrays(dayTotals: ReadonlyMap<number, bigint>) {
  return {
    days: `{${[...dayTotals.keys()].join()}}`,
    totals: `{${[...dayTotals.values()].join()}}`,
  };
}

async function writeDifferences(
  client: PoolClient,
  differences: readonly RowDifference[],
): Promise<void> {
  const of = <T>(rows: (difference: RowDifference) => readonly T[]): T[] =>
    differences.flatMap(rows);
  const removed = of(({ remove }) => remove.changes);
  const removedDays = of(({ remove }) => remove.days);
  // The guards of balance changes let this transaction pass: see schema/staking.ts.
  await client.query(`SET LOCAL lowmark.repair = 'on'`);
  await client.query(
    REMOVE_CHANGES({
      wallets: byteaArray(removed.map(({ wallet }) => wallet)),
      blocks: `{${removed.map(({ blockNumber }) => blockNumber).join()}}`,
    }),
  );
  await client.query(
    REMOVE_DAYS({
      wallets: byteaArray(removedDays.map(({ wallet }) => wallet)),
      days: `{${removedDays.map(({ day }) => day).join()}}`,
    }),
  );
  await copyChanges(
    client,
    of(({ add }) => add.changes),
  );
  await copyDays(
    client,
    of(({ add }) => add.days),
  );
}

async function readRows(
  client: PoolClient,
  wallets: readonly Address[],
  block: BlockRef,
): Promise<Map<Address, WalletRows>> {
  type ChangeRow = Record<'wallet' | 'block' | 'seconds' | 'balance', string>;
  type DayRow = { wallet: string; day: number; low: string | null; closing: string };
  const keys = byteaArray(wallets);
  const changes = new Map<Address, BalanceChange[]>(wallets.map((wallet) => [wallet, []]));
  for (const row of await run<ChangeRow>(client, CHANGES({ wallets: keys, block: block.number }))) {
    const wallet = addressOf(row.wallet);
    changes.get(wallet)?.push({
      wallet,
      blockNumber: BigInt(row.block),
      timestampSeconds: Number(row.seconds),
      balance: BigInt(row.balance),
    });
  }
  const days = new Map<Address, BalanceDay[]>(wallets.map((wallet) => [wallet, []]));
  for (const row of await run<DayRow>(client, DAYS({ wallets: keys }))) {
    const wallet = addressOf(row.wallet);
    const low = row.low === null ? null : BigInt(row.low);
    days.get(wallet)?.push({ wallet, day: row.day, low, closing: BigInt(row.closing) });
  }
  return new Map(
    wallets.map((wallet) => [
      wallet,
      { changes: changes.get(wallet) ?? [], days: days.get(wallet) ?? [] },
    ]),
  );
}
