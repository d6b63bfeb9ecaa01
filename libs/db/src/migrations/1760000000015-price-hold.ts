import { type QueryRunner } from 'typeorm';
import { type SchemaMigration } from '../connection/schema-migration.js';

/** A price that the indexer has read and does not use before an operator has accepted it, and what operators have accepted. */
export class PriceHold1760000000015 implements SchemaMigration {
  readonly name = 'PriceHold1760000000015';
  /** An older indexer writes prices as before and holds none. */
  readonly olderMayStart = true;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(UP);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE staking.price_hold');
    await runner.query('DROP TABLE staking.price_acceptance');
  }
}

const UP = `
CREATE TABLE staking.price_hold (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  since timestamptz NOT NULL DEFAULT clock_timestamp(),
  reason text NOT NULL CHECK (reason <> ''),
  before_usd numeric CHECK (before_usd > 0 AND before_usd < 'Infinity'),
  max_change numeric NOT NULL CHECK (max_change > 0 AND max_change < 'Infinity'),
  usd numeric NOT NULL CHECK (usd > 0 AND usd < 'Infinity'),
  observed_at timestamptz NOT NULL,
  source text NOT NULL,
  read_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE staking.price_hold IS 'while there is a row no price is used: written by the indexer, ended by a price near one that was accepted since';
COMMENT ON COLUMN staking.price_hold.usd IS 'the newest reading';
COMMENT ON COLUMN staking.price_hold.before_usd IS 'the price that was in use when the hold began';

CREATE TABLE staking.price_acceptance (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  usd numeric NOT NULL CHECK (usd > 0 AND usd < 'Infinity'),
  held_usd numeric NOT NULL,
  reason text NOT NULL,
  actor text NOT NULL CHECK (actor <> '')
);
COMMENT ON TABLE staking.price_acceptance IS 'figures that an operator has accepted, by the cli; never changed';
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON staking.price_acceptance
  FOR EACH STATEMENT EXECUTE FUNCTION redemption.refuse_change();
`;
