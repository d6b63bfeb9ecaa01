/**
 * Layouts of the two large tables: as in the product, in one partition or in partitions of the size that the indexer
 * makes. For comparison also all rows in one table, or a number of partitions by a hash of the wallet or by time.
 */
import type pg from 'pg';
import { dayOf } from '#libs/domain';
import { FIRST_SECONDS, type LargeHistory } from './large-history.js';

const KINDS = ['product', 'one', 'hash', 'time'] as const;

/** The size of the partitions that staking.next_partition makes: 256 MiB of rows, and half as much for the indexes. */
const CHANGES_A_PARTITION = 4_200_000;

export interface Layout {
  readonly name: string;
  readonly kind: (typeof KINDS)[number];
  readonly parts: number;
}

/** @param text `product`, `one`, `hash:16`, `time:14` @throws Error where the text has another form */
export function layoutOf(text: string): Layout {
  const [name = '', parts = '1'] = text.split(':');
  const kind = KINDS.find((known) => known === name);
  if (kind === undefined || !/^[1-9][0-9]{0,2}$/.test(parts)) {
    throw new Error(`--layouts: ${text} is none of product, one, hash:N and time:N`);
  }
  return { name: text, kind, parts: Number(parts) };
}

/**
 * Lays out the tables in an empty, migrated database. Columns, checks, keys and triggers stay; the views of these
 * tables are dropped.
 */
export async function layOut(
  client: pg.Client,
  layout: Layout,
  history: LargeHistory,
): Promise<void> {
  const { kind } = layout;
  const parts =
    kind === 'product' ? Math.ceil(history.changes / CHANGES_A_PARTITION) : layout.parts;
  if (kind !== 'hash' && parts === 1) return;
  const lastDay = dayOf(history.block(history.blocks).timestampSeconds) + 1;
  const blocks = { column: 'block', first: 0, end: history.blocks + 1 };
  const days = { column: 'day', first: dayOf(FIRST_SECONDS), end: lastDay };
  for (const [table, range] of [
    ['balance_change', blocks],
    ['balance_day', days],
  ] as const) {
    const { rows } = await client.query<{ definition: string }>(
      `SELECT pg_get_triggerdef(oid) AS definition FROM pg_trigger
        WHERE tgrelid = $1::regclass AND NOT tgisinternal
        UNION ALL SELECT 'ALTER TABLE ' || $1 || ' ADD CONSTRAINT ' || conname || ' ' || pg_get_constraintdef(oid)
        FROM pg_constraint WHERE conrelid = $1::regclass AND contype = 'p'`,
      [`staking.${table}`],
    );
    const by = kind === 'hash' ? 'HASH (wallet)' : `RANGE (${range.column})`;
    await client.query(`
      ALTER TABLE staking.${table} RENAME TO former;
      CREATE TABLE staking.${table} (LIKE staking.former INCLUDING DEFAULTS INCLUDING CONSTRAINTS) PARTITION BY ${by};
      DROP TABLE staking.former CASCADE`);
    for (const { definition } of rows) await client.query(definition);
    const bounds =
      kind === 'hash'
        ? Array.from({ length: parts }, (_, part) => `WITH (MODULUS ${parts}, REMAINDER ${part})`)
        : timeBounds(parts, range);
    for (const [part, bound] of bounds.entries()) {
      await client.query(
        `CREATE TABLE staking.${table}_${part + 1} PARTITION OF staking.${table} FOR VALUES ${bound}`,
      );
    }
  }
  await client.query(
    'CREATE INDEX balance_change_block ON staking.balance_change USING brin (block)',
  );
}

/** Rows after the end of the history go into the last partition, until the indexer's store adds the next one. */
function timeBounds(
  parts: number,
  { first, end }: { readonly first: number; readonly end: number },
): string[] {
  // The last partition is half full at the end of the history, which is the average case.
  const length = Math.ceil((end - first) / (parts - 0.5));
  return Array.from({ length: parts }, (_, part) => {
    const from = first + part * length;
    return `FROM (${part === 0 ? 'MINVALUE' : from}) TO (${part === parts - 1 ? 'MAXVALUE' : from + length})`;
  });
}
