/**
 * Makes a large index in the database itself, without rows sent by a program. The keys are dropped before and recreated
 * afterwards, so that a hundred million changes take minutes.
 */
import pg from 'pg';
import { createDatabase, IndexStore } from '#libs/db';
import { say } from '../support/progress.js';
import { SYNTHETIC_INDEX } from '../support/synthetic-index.js';
import {
  balanceSql,
  CHANGES_PER_BLOCK,
  FIRST_SECONDS,
  type LargeHistory,
  STRIDE,
} from './large-history.js';

/** Fills an empty, migrated database. */
export async function seedHistory(url: string, history: LargeHistory): Promise<void> {
  const { changes, wallets, secondsPerBlock } = history;
  const database = await createDatabase({ url, applicationName: 'bench', poolSize: 1 });
  try {
    await new IndexStore(database).create({ ...SYNTHETIC_INDEX, head: history.block(0) });
    const numbers = `generate_series(1::bigint, ${changes}) AS k,
      LATERAL (SELECT (k + ${CHANGES_PER_BLOCK - 1}) / ${CHANGES_PER_BLOCK} AS block) AS b,
      LATERAL (SELECT substring(sha256((((k * ${STRIDE}) % ${wallets}))::text::bytea) FROM 1 FOR 20) AS wallet,
        ${FIRST_SECONDS} + block * ${secondsPerBlock} AS seconds) AS w`;
    await Promise.all([
      fill(url, 'changes', [
        'ALTER TABLE staking.balance_change DROP CONSTRAINT balance_change_pkey',
        'DROP INDEX staking.balance_change_block',
        `INSERT INTO staking.balance_change (wallet, block, seconds, balance)
          SELECT wallet, block, seconds, ${balanceSql('k')} FROM ${numbers}`,
        'ALTER TABLE staking.balance_change ADD PRIMARY KEY (wallet, block)',
        `CREATE INDEX balance_change_block ON staking.balance_change USING brin (block)
          WITH (pages_per_range = 32, autosummarize = on)`,
      ]),
      fill(url, 'days', [
        'ALTER TABLE staking.balance_day DROP CONSTRAINT balance_day_pkey',
        `INSERT INTO staking.balance_day (wallet, day, low, closing)
          SELECT wallet, seconds / 86400, CASE WHEN k > ${wallets} THEN ${balanceSql(`(k - ${wallets})`)} ELSE 0 END,
            ${balanceSql('k')} FROM ${numbers}`,
        'ALTER TABLE staking.balance_day ADD PRIMARY KEY (wallet, day) INCLUDE (low, closing)',
      ]),
    ]);
    const { number, hash, timestampSeconds } = history.block(history.blocks);
    await database.pool.query(
      `UPDATE staking.index_state SET head_number = $1, head_hash = decode($2, 'hex'), head_seconds = $3, synced_at = now()`,
      [number, hash.slice(2), timestampSeconds],
    );
  } finally {
    await database.close();
  }
}

/** Fills a table with triggers disabled: they guard against faulty programs. Recreating the keys checks the keys. */
async function fill(url: string, table: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`SET session_replication_role = replica; SET maintenance_work_mem = '1GB'`);
    for (const statement of statements) {
      const startMs = performance.now();
      await client.query(statement);
      const seconds = Math.round((performance.now() - startMs) / 1000);
      say(`  ${table}: ${statement.slice(0, 40)} …, ${seconds} s`);
    }
  } finally {
    await client.end();
  }
}
