import { SqlMigration } from '../connection/schema-migration.js';

/** Stake sets besides the default one, and which of them a partner's requests mean. See docs/decisions/0009-a-schema-for-each-stake-set.md. */
export class StakeSets1760000000025 extends SqlMigration {
  readonly olderMayStart = true;
  /** An older api would answer such a partner from the default set. */
  readonly olderMisreads = {
    rows: 'SELECT FROM partners.partner WHERE stake_set IS NOT NULL',
    remedy:
      'bind each partner to the default stake set first (`partner set NAME --stake-set default`)',
  };
  readonly upStatements = [
    `
CREATE TABLE lowmark.stake_set (
  name text PRIMARY KEY CHECK (name ~ '^[a-z][a-z0-9]{0,30}$' AND name <> 'default'),
  migrations text[] NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE lowmark.stake_set IS 'stake sets besides the default one, each in a schema stakes_NAME; made by migrate';
COMMENT ON COLUMN lowmark.stake_set.migrations IS 'what was applied to its schema, oldest first';

ALTER TABLE partners.partner ADD COLUMN stake_set text REFERENCES lowmark.stake_set;
COMMENT ON COLUMN partners.partner.stake_set IS 'what its requests mean that name no contract; null: the default set';
`,
  ];
  readonly downStatements = [
    'ALTER TABLE partners.partner DROP COLUMN stake_set',
    'DROP TABLE lowmark.stake_set',
  ];
}
