import { SqlMigration } from '../connection/schema-migration.js';

/**
 * The generation of the index: what was read of days that lie behind the head stays true as long as it is the same. It is
 * renewed by the database itself whenever something indexed may have been taken back, so that no program can forget it:
 * the row is made anew, the head goes back or is replaced, balance changes are removed, or another leader starts (its
 * database may have been restored from a backup). Random, so that no two databases, and no two lives of one, share one.
 */
export class IndexGeneration1760000000007 extends SqlMigration {
  readonly upStatements = [ADD_INDEX_GENERATION];
  readonly downStatements = [REMOVE_INDEX_GENERATION];
}

const ADD_INDEX_GENERATION = `
ALTER TABLE staking.index_state ADD COLUMN generation uuid NOT NULL DEFAULT gen_random_uuid();
COMMENT ON COLUMN staking.index_state.generation IS 'what is cached of the index is valid for one generation; set it to gen_random_uuid() after mending rows by hand';

COMMENT ON COLUMN staking.index_state.rollbacks IS 'grows with each rollback';

CREATE FUNCTION staking.renew_generation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.generation := gen_random_uuid();
  RETURN NEW;
END $$;

CREATE TRIGGER made BEFORE INSERT ON staking.index_state
  FOR EACH ROW EXECUTE FUNCTION staking.renew_generation();
CREATE TRIGGER taken_back BEFORE UPDATE ON staking.index_state
  FOR EACH ROW WHEN (NEW.fence <> OLD.fence OR NEW.head_number < OLD.head_number
    OR (NEW.head_number = OLD.head_number AND NEW.head_hash <> OLD.head_hash))
  EXECUTE FUNCTION staking.renew_generation();

CREATE FUNCTION staking.renew_generation_of_index() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE staking.index_state SET generation = gen_random_uuid();
  RETURN NULL;
END $$;

CREATE TRIGGER taken_back AFTER DELETE ON staking.balance_change
  FOR EACH STATEMENT EXECUTE FUNCTION staking.renew_generation_of_index();
CREATE TRIGGER emptied AFTER TRUNCATE ON staking.balance_change
  FOR EACH STATEMENT EXECUTE FUNCTION staking.renew_generation_of_index();
`;

const REMOVE_INDEX_GENERATION = `
COMMENT ON COLUMN staking.index_state.rollbacks IS 'grows with each rollback: the version of anything cached';
DROP TRIGGER emptied ON staking.balance_change;
DROP TRIGGER taken_back ON staking.balance_change;
DROP TRIGGER taken_back ON staking.index_state;
DROP TRIGGER made ON staking.index_state;
DROP FUNCTION staking.renew_generation_of_index();
DROP FUNCTION staking.renew_generation();
ALTER TABLE staking.index_state DROP COLUMN generation;
`;

/** What came of holding the index against the contract's own figures, as the indexer does it each night. */
export class AuditRun1760000000010 extends SqlMigration {
  readonly upStatements = [ADD_AUDIT_RUN];
  readonly downStatements = ['DROP TABLE staking.audit_run'];
}

const ADD_AUDIT_RUN = `
CREATE TABLE staking.audit_run (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  started_at timestamptz NOT NULL,
  finished_at timestamptz NOT NULL,
  result text NOT NULL CHECK (result IN ('ok', 'different', 'impossible')),
  reason text,
  block_number bigint CHECK (block_number >= 0),
  block_hash bytea CHECK (octet_length(block_hash) = 32),
  wallets bigint CHECK (wallets >= 0),
  compared bigint CHECK (compared >= 0),
  differences bigint CHECK (differences >= 0),
  different jsonb CHECK (jsonb_typeof(different) = 'array'),
  indexed_total numeric(90, 0) CHECK (indexed_total >= 0 AND indexed_total < 'Infinity'),
  contract_total numeric(90, 0) CHECK (contract_total >= 0 AND contract_total < 'Infinity'),
  CHECK ((reason IS NOT NULL) = (result = 'impossible')),
  CHECK (num_nonnulls(block_number, block_hash, wallets, differences, different, indexed_total)
    = CASE result WHEN 'impossible' THEN 0 ELSE 6 END),
  CHECK (result <> 'impossible' OR num_nonnulls(compared, contract_total) = 0),
  CHECK (result = 'impossible' OR (result = 'ok')
    = (differences = 0 AND (contract_total IS NULL OR contract_total = indexed_total)))
);
COMMENT ON TABLE staking.audit_run IS 'comparisons of the index with the contract by the indexer, of the last year; totals in the smallest unit of the token';
COMMENT ON COLUMN staking.audit_run.result IS 'impossible: nothing is known about the balances, and reason says why';
COMMENT ON COLUMN staking.audit_run.compared IS 'wallets held against the contract; null where it tells no balances';
COMMENT ON COLUMN staking.audit_run.differences IS 'wallets that differ';
COMMENT ON COLUMN staking.audit_run.different IS 'the first of them, with both figures as strings; the next run looks at them again';
COMMENT ON COLUMN staking.audit_run.contract_total IS 'null where the contract tells no total';
CREATE INDEX audit_run_finished_at ON staking.audit_run (finished_at);
`;

/** A price that the indexer has read and does not use before an operator has accepted it, and what operators have accepted. */
export class PriceHold1760000000015 extends SqlMigration {
  /** An older indexer writes prices as before and holds none. */
  readonly olderMayStart = true;
  readonly upStatements = [ADD_PRICE_HOLD];
  readonly downStatements = [
    'DROP TABLE staking.price_hold',
    'DROP TABLE staking.price_acceptance',
  ];
}

const ADD_PRICE_HOLD = `
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
