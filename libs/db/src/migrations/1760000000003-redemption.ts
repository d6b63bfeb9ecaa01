import { type MigrationInterface, type QueryRunner } from 'typeorm';
import { GUARDS } from './redemption-guards.js';
import { TABLES } from './redemption-tables.js';

/**
 * Redemptions, and how partners are called. What a row may hold is in the CHECKs, what may become of it in the triggers: the
 * state machine of libs/domain decides, and the database refuses what that must never do.
 */
export class Redemption1760000000003 implements MigrationInterface {
  readonly name = 'Redemption1760000000003';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(CALLBACKS);
    await runner.query(TABLES);
    await runner.query(GUARDS);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP SCHEMA redemption CASCADE');
    await runner.query('DROP TABLE partners.callback');
  }
}

const CALLBACKS = `
CREATE TABLE partners.callback (
  partner_id uuid PRIMARY KEY REFERENCES partners.partner,
  url text NOT NULL CHECK (url ~ '^https?://'),
  key text NOT NULL CHECK (key <> ''),
  secret_ciphertext bytea NOT NULL,
  usd_per_point numeric NOT NULL CHECK (usd_per_point > 0),
  bonus_from_points bigint CHECK (bonus_from_points > 0),
  bonus_rate numeric CHECK (bonus_rate >= 0),
  min_points bigint CHECK (min_points > 0),
  max_points bigint CHECK (max_points >= min_points AND max_points > 0),
  daily_token_budget numeric CHECK (daily_token_budget >= 0),
  confirms boolean NOT NULL DEFAULT true,
  capabilities text[] NOT NULL DEFAULT '{}' CHECK (capabilities <@ ARRAY['revert-by-redemption-id', 'tombstones',
    'enforces-freshness', 'signs-all-responses', 'refuses-mismatched-pair']),
  paused boolean NOT NULL DEFAULT false,
  updated_at timestamptz NOT NULL DEFAULT now(),
  CHECK (num_nonnulls(bonus_from_points, bonus_rate) IN (0, 2)),
  -- NaN and infinity pass for large numbers.
  CHECK (usd_per_point < 'Infinity' AND bonus_rate < 'Infinity' AND daily_token_budget < 'Infinity')
);
COMMENT ON COLUMN partners.callback.key IS 'X-API-KEY of our calls';
COMMENT ON COLUMN partners.callback.daily_token_budget IS 'whole tokens per UTC day';
-- The role that only reads is the api's, which calls no partner.
REVOKE ALL ON partners.callback FROM lowmark_reader;
`;
