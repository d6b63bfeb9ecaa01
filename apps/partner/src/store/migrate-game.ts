import { type Database } from '#libs/db';
import { migrations } from './migrations.js';

/** Any two numbers, other than those of the service's own migrations. */
const MIGRATION_LOCK = [0x67_61, 1] as const;

/**
 * Brings the schema `game` up to date in one transaction; replicas that start together wait for each other. The game's tables
 * are no part of the service's schema: a partner has a database of its own.
 * @returns the names of the migrations that were applied
 */
export async function migrateGame(database: Database): Promise<string[]> {
  return database.transaction(async (client) => {
    await client.query('SELECT pg_advisory_xact_lock($1, $2)', [...MIGRATION_LOCK]);
    await client.query('CREATE SCHEMA IF NOT EXISTS game');
    await client.query(
      'CREATE TABLE IF NOT EXISTS game.migration (name text PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())',
    );
    const { rows } = await client.query<{ name: string }>('SELECT name FROM game.migration');
    const due = migrations.filter(({ name }) => !rows.some((row) => row.name === name));
    for (const { name, sql } of due) {
      await client.query(sql);
      await client.query('INSERT INTO game.migration (name) VALUES ($1)', [name]);
    }
    return due.map(({ name }) => name);
  });
}
