import { type Database } from '#libs/db';

/** All migrations of the game, oldest first. A released migration is never edited. */
const migrations: readonly { readonly name: string; readonly sql: string }[] = [
  {
    name: '0001-points',
    sql: `
CREATE TABLE game.player (
  partner_user_id text PRIMARY KEY,
  wallet text NOT NULL UNIQUE CHECK (wallet ~ '^0x[0-9a-f]{40}$'),
  points bigint NOT NULL CHECK (points BETWEEN 0 AND 9007199254740991)
);
COMMENT ON COLUMN game.player.points IS 'up to 2^53 - 1: what a JSON number says exactly';

CREATE TABLE game.deduction (
  svc_redemption_id uuid PRIMARY KEY,
  partner_transaction_id text UNIQUE,
  partner_user_id text REFERENCES game.player,
  wallet text,
  points bigint CHECK (points > 0),
  status text NOT NULL CHECK (status IN ('deducted', 'reverted', 'refused')),
  created_at timestamptz NOT NULL DEFAULT now(),
  CHECK (num_nonnulls(partner_transaction_id, partner_user_id, wallet, points) = CASE status WHEN 'refused' THEN 0 ELSE 4 END)
);
COMMENT ON COLUMN game.deduction.wallet IS 'of the player at that time';
COMMENT ON COLUMN game.deduction.status IS 'refused: a tombstone, left by a revert that came before its deduction';

CREATE TABLE game.revert (
  partner_revert_id text PRIMARY KEY,
  svc_redemption_id uuid NOT NULL UNIQUE REFERENCES game.deduction,
  reason text,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE game.confirmation (
  svc_redemption_id uuid PRIMARY KEY REFERENCES game.deduction,
  status text NOT NULL CHECK (status IN ('claimed', 'reverted')),
  payload jsonb NOT NULL,
  received_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE game.seen_request (
  request_id uuid PRIMARY KEY,
  seen_at timestamptz NOT NULL
);
CREATE INDEX seen_request_age ON game.seen_request (seen_at);
`,
  },
];

/** Key of the advisory lock: any two numbers that the service's own migrations do not use. */
const MIGRATION_LOCK = [0x67_61, 1] as const;

/**
 * Brings the schema `game` up to date in one transaction; replicas that start together wait for each other. The game's
 * tables are not part of the service's schema: a partner has a database of its own.
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
