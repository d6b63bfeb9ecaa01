/** Sorts rows by the keys of their tables and writes them by COPY. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type PoolClient } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { type Address, type BalanceChange, type BalanceDay } from '#libs/domain';

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
