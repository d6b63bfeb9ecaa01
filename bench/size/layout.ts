/** The two large tables as they are, or partitioned: by a hash of the wallet, or by time. For comparing; the product has them plain. */
import type pg from 'pg';
import { dayOf } from '#libs/domain';
import { FIRST_SECONDS, type LargeHistory } from './large-history.js';

const KINDS = ['plain', 'hash', 'time'] as const;

export interface Layout {
  readonly name: string;
  readonly kind: (typeof KINDS)[number];
  readonly parts: number;
}

/** @param text `plain`, `hash:16`, `time:14` @throws Error where it is something else */
export function layoutOf(text: string): Layout {
  const [name = '', parts = '1'] = text.split(':');
  const kind = KINDS.find((known) => known === name);
  if (kind === undefined || !/^[1-9][0-9]{0,2}$/.test(parts)) {
    throw new Error(`--layouts: ${text} is none of plain, hash:N and time:N`);
  }
  return { name: text, kind, parts: Number(parts) };
}

/** In an empty, migrated database. Columns, checks, keys and triggers stay; the views of these tables go. */
export async function layOut(
  client: pg.Client,
  layout: Layout,
  history: LargeHistory,
): Promise<void> {
  if (layout.kind === 'plain') return;
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
    const by = layout.kind === 'hash' ? 'HASH (wallet)' : `RANGE (${range.column})`;
    await client.query(`
      ALTER TABLE staking.${table} RENAME TO plain;
      CREATE TABLE staking.${table} (LIKE staking.plain INCLUDING DEFAULTS INCLUDING CONSTRAINTS) PARTITION BY ${by};
      DROP TABLE staking.plain CASCADE`);
    for (const { definition } of rows) await client.query(definition);
    for (const [part, bounds] of boundsOf(layout, range).entries()) {
      await client.query(
        `CREATE TABLE staking.${table}_${part} PARTITION OF staking.${table} FOR VALUES ${bounds}`,
      );
    }
  }
  await client.query(
    'CREATE INDEX balance_change_block ON staking.balance_change USING brin (block)',
  );
}

function boundsOf(
  { kind, parts }: Layout,
  { first, end }: { readonly first: number; readonly end: number },
): string[] {
  if (kind === 'hash') {
    return Array.from({ length: parts }, (_, part) => `WITH (MODULUS ${parts}, REMAINDER ${part})`);
  }
  // The last one is half full at the end of the history, as it is on average.
  const length = Math.ceil((end - first) / (parts - 0.5));
  return Array.from({ length: parts }, (_, part) => {
    const from = first + part * length;
    return `FROM (${part === 0 ? 'MINVALUE' : from}) TO (${part === parts - 1 ? 'MAXVALUE' : from + length})`;
  });
}
