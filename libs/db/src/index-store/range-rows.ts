/**
 * The rows of wallets: read before a range of blocks is folded, compared with what was read when the range is written,
 * and written, sorted by the keys of their tables, by COPY.
 */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type PoolClient } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import {
  type Address,
  type BalanceChange,
  type BalanceDay,
  dayOf,
  type FoldedBlocks,
  type FoldedWallet,
  type WalletState,
} from '#libs/domain';
import { type Database, run } from '../connection/database.js';
import { named } from '../connection/named.js';
import { addressOf, byteaArray } from '../connection/rows.js';
import { WrongStateError } from './index-state.js';

/**
 * For a wallet whose newest change is before `fromDay`, the primary key of `balance_day` alone has the answer. In a
 * first sync this is true of nearly every wallet and halves the work. `CASE` avoids the partitions of `balance_change`
 * for such a wallet, where a join would read each of them.
 * The wallets are read in the order of the keys, so that an index page that several wallets share is still in memory.
 */
const WALLET_STATES = named<{ wallets: string; fromDay: number }>(
  'index_wallet_states',
  `SELECT encode(w.wallet, 'hex') AS wallet, d.closing, d.low,
      coalesce(CASE WHEN d.day >= :fromDay THEN (SELECT seconds FROM staking.balance_change
        WHERE wallet = w.wallet ORDER BY block DESC LIMIT 1) END, (d.day + 1) * 86400::bigint - 1) AS seconds
    FROM (SELECT wallet FROM unnest(:wallets::bytea[]) AS u (wallet) ORDER BY wallet) AS w
    CROSS JOIN LATERAL (SELECT day, low, closing FROM staking.balance_day
      WHERE wallet = w.wallet ORDER BY day DESC LIMIT 1) AS d`,
);

type DayArrays = Record<'wallets' | 'days' | 'lows' | 'closings', string>;

/**
 * Finds a wallet whose newest day is not the one that is stated; the stated day of a wallet without history is null.
 * The newest day is at or above the stated one, so that the older partitions are not searched.
 */
const WRONG_STATE = named<DayArrays>(
  'index_wrong_state',
  `SELECT encode(w.wallet, 'hex') AS wallet, w.closing AS stated, d.closing AS stored
    FROM unnest(:wallets::bytea[], :days::int[], :lows::numeric[], :closings::numeric[]) AS w (wallet, day, low, closing)
    LEFT JOIN LATERAL (SELECT day, low, closing FROM staking.balance_day
      WHERE wallet = w.wallet AND day >= coalesce(w.day, 0) ORDER BY day DESC LIMIT 1) AS d ON true
    WHERE (d.day, d.low, d.closing) IS DISTINCT FROM (w.day, w.low, w.closing) LIMIT 1`,
);

const UPDATE_DAYS = named<DayArrays>(
  'index_days',
  `UPDATE staking.balance_day d SET low = n.low, closing = n.closing
    FROM unnest(:wallets::bytea[], :days::int[], :lows::numeric[], :closings::numeric[]) AS n (wallet, day, low, closing)
    WHERE d.wallet = n.wallet AND d.day = n.day`,
);

/**
 * The state of wallets that is necessary to apply changes of the day `fromDay` and later. Wallets without history are
 * absent. Where the newest change is before `fromDay`, `sinceSeconds` is the last second of the day of this change.
 */
export async function readWalletStates(
  database: Database,
  wallets: readonly Address[],
  fromDay: number,
): Promise<Map<Address, WalletState>> {
  type Row = Record<'wallet' | 'closing' | 'seconds', string> & { low: string | null };
  const rows = await database.query<Row>(WALLET_STATES({ wallets: byteaArray(wallets), fromDay }));
  return new Map(
    rows.map(({ wallet, closing, seconds, low }) => [
      addressOf(wallet),
      {
        balance: BigInt(closing),
        sinceSeconds: Number(seconds),
        low: low === null ? null : BigInt(low),
      },
    ]),
  );
}

/**
 * Writes the changes and days of a range, if they were computed from the wallets' newest stored days.
 * @throws WrongStateError
 */
export async function writeWallets(
  client: PoolClient,
  { wallets, changes, days }: FoldedBlocks,
): Promise<void> {
  if (wallets.length > 0) await requireStates(client, byWallet(wallets));
  if (changes.length > 0) await copyChanges(client, byWallet(changes));
  const dayBefore = new Map(wallets.map(({ wallet, before }) => [wallet, dayBeforeOf(before)]));
  const [known, added]: [BalanceDay[], BalanceDay[]] = [[], []];
  for (const day of days) (dayBefore.get(day.wallet) === day.day ? known : added).push(day);
  if (added.length > 0) await copyDays(client, byWallet(added));
  if (known.length > 0) await client.query(UPDATE_DAYS(dayArrays(byWallet(known))));
}

/** @throws WrongStateError */
async function requireStates(client: PoolClient, wallets: readonly FoldedWallet[]): Promise<void> {
  type Row = { wallet: string; stated: string | null; stored: string | null };
  const stated = wallets.map(({ wallet, before }) => ({
    wallet,
    day: dayBeforeOf(before),
    low: before?.low,
    closing: before?.balance,
  }));
  const [row] = await run<Row>(client, WRONG_STATE(dayArrays(stated)));
  if (row !== undefined) throw new WrongStateError(addressOf(row.wallet), row.stated, row.stored);
}

/** The day of the wallet's newest change, which has a row. */
function dayBeforeOf(before: WalletState | undefined): number | undefined {
  return before && dayOf(before.sinceSeconds);
}

interface StatedDay {
  readonly wallet: Address;
  readonly day: number | undefined;
  readonly low: bigint | null | undefined;
  readonly closing: bigint | undefined;
}

function dayArrays(days: readonly StatedDay[]): DayArrays {
  return {
    wallets: byteaArray(days.map(({ wallet }) => wallet)),
    days: `{${days.map(({ day }) => day ?? 'NULL').join(',')}}`,
    lows: `{${days.map(({ low }) => low ?? 'NULL').join(',')}}`,
    closings: `{${days.map(({ closing }) => closing ?? 'NULL').join(',')}}`,
  };
}

/** Rows in one chunk of text, some 50 KiB. The text of a chunk five times as large costs four times as much for each row. */
const ROWS_PER_CHUNK = 500;

export function copyChanges(client: PoolClient, changes: readonly BalanceChange[]): Promise<void> {
  return copy(
    client,
    'staking.balance_change (wallet, block, seconds, balance)',
    chunks(
      changes,
      ({ wallet, blockNumber, timestampSeconds, balance }) =>
        `\\\\x${wallet.slice(2)}\t${Number(blockNumber)}\t${timestampSeconds}\t${balance.toString()}\n`,
    ),
  );
}

/** Writes days that have no row yet, at a quarter of the cost of an upsert. */
export function copyDays(client: PoolClient, days: readonly BalanceDay[]): Promise<void> {
  return copy(
    client,
    'staking.balance_day (wallet, day, low, closing)',
    chunks(
      days,
      ({ wallet, day, low, closing }) =>
        `\\\\x${wallet.slice(2)}\t${day}\t${low === null ? '\\N' : low.toString()}\t${closing.toString()}\n`,
    ),
  );
}

async function copy(client: PoolClient, into: string, text: Iterable<Buffer>): Promise<void> {
  const stream = client.query(copyFrom(`COPY ${into} FROM STDIN`));
  await pipeline(Readable.from(text), stream);
}

function* chunks<T>(rows: readonly T[], lineOf: (row: T) => string): Generator<Buffer> {
  for (let start = 0; start < rows.length; start += ROWS_PER_CHUNK) {
    let text = '';
    const end = Math.min(start + ROWS_PER_CHUNK, rows.length);
    for (let place = start; place < end; place += 1) text += lineOf(rows[place] as T);
    yield Buffer.from(text, 'latin1');
  }
}

/** Hex digits of an address by which rows are sorted, and the number of their values. */
const SORTED_HEX_DIGITS = 3;
const BUCKETS = 16 ** SORTED_HEX_DIGITS;

/**
 * Rows in nearly the order of the tables' keys. PostgreSQL then finds each page of the index once instead of once per
 * row, which saves a third of the time to write the rows. Buckets cost half as much as a complete sort.
 */
export function byWallet<T extends { readonly wallet: Address }>(rows: readonly T[]): T[] {
  const buckets = new Array<T[] | undefined>(BUCKETS);
  for (const row of rows) {
    const place = parseInt(row.wallet.slice(2, 2 + SORTED_HEX_DIGITS), 16);
    (buckets[place] ??= []).push(row);
  }
  return buckets.flatMap((bucket) => bucket ?? []);
}
