import { SqlMigration } from '../connection/schema-migration.js';

/**
 * The index of staked balances. A row of balance_change opens an interval that lasts until the wallet's next row; the
 * triggers let rows be added only above everything that is there, in the order of blocks and of time, and taken away only
 * from the newest end. See docs/decisions/0002-interval-by-its-opening.md.
 */
export class StakingIndex1760000000000 extends SqlMigration {
  readonly upStatements = [TABLES, GUARDS];
  readonly downStatements = ['DROP SCHEMA staking CASCADE'];
}

const TABLES = `
CREATE SCHEMA staking;

CREATE TABLE staking.index_state (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  fingerprint text NOT NULL,
  settings jsonb NOT NULL,
  chain_id bigint NOT NULL,
  stake_contract bytea NOT NULL CHECK (octet_length(stake_contract) = 20),
  token_contract bytea NOT NULL CHECK (octet_length(token_contract) = 20),
  token_symbol text NOT NULL,
  token_decimals int NOT NULL CHECK (token_decimals BETWEEN 0 AND 255),
  fence bigint NOT NULL DEFAULT 0,
  head_number bigint NOT NULL CHECK (head_number >= -1),
  head_hash bytea NOT NULL CHECK (octet_length(head_hash) = 32),
  head_seconds bigint NOT NULL,
  finalised_number bigint,
  finalised_hash bytea CHECK (octet_length(finalised_hash) = 32),
  finalised_seconds bigint,
  verified_number bigint,
  total numeric(78, 0) NOT NULL DEFAULT 0 CHECK (total >= 0),
  rollbacks bigint NOT NULL DEFAULT 0,
  synced_at timestamptz,
  halted_at timestamptz,
  halted_reason text,
  -- The newest block and time among the balance changes: kept by the guard, never by the program.
  written_number bigint,
  written_seconds bigint,
  updated_at timestamptz NOT NULL DEFAULT now(),
  CHECK (num_nonnulls(finalised_number, finalised_hash, finalised_seconds) IN (0, 3)),
  CHECK (num_nonnulls(halted_at, halted_reason) IN (0, 2))
);
COMMENT ON COLUMN staking.index_state.head_number IS 'newest indexed block; at creation the block before the first one';
COMMENT ON COLUMN staking.index_state.total IS 'sum of all balances at the head, in the smallest unit of the token';
COMMENT ON COLUMN staking.index_state.rollbacks IS 'grows with each rollback: the version of anything cached';

CREATE TABLE staking.block (
  number bigint PRIMARY KEY,
  hash bytea NOT NULL CHECK (octet_length(hash) = 32),
  seconds bigint NOT NULL
);
COMMENT ON TABLE staking.block IS 'the finalised block and every indexed block above it';

CREATE TABLE staking.balance_change (
  wallet bytea NOT NULL CHECK (octet_length(wallet) = 20),
  block bigint NOT NULL,
  seconds bigint NOT NULL,
  balance numeric(78, 0) NOT NULL CHECK (balance >= 0),
  PRIMARY KEY (wallet, block)
);
COMMENT ON COLUMN staking.balance_change.balance IS 'at the end of the block, in the smallest unit of the token';
-- Rows arrive in the order of blocks, so a few kilobytes find those above a fork.
CREATE INDEX balance_change_block ON staking.balance_change USING brin (block) WITH (pages_per_range = 32, autosummarize = on);

CREATE TABLE staking.balance_day (
  wallet bytea NOT NULL CHECK (octet_length(wallet) = 20),
  day int NOT NULL,
  low numeric(78, 0) CHECK (low >= 0),
  closing numeric(78, 0) NOT NULL CHECK (closing >= 0),
  PRIMARY KEY (wallet, day) INCLUDE (low, closing)
);
COMMENT ON COLUMN staking.balance_day.day IS 'days since 1970-01-01 UTC';
COMMENT ON COLUMN staking.balance_day.low IS 'lowest balance held in the day before the closing one, the one carried in included; null where the closing balance held all day';

CREATE TABLE staking.price (
  observed_at timestamptz NOT NULL,
  source text NOT NULL,
  usd numeric NOT NULL CHECK (usd > 0 AND usd < 'Infinity'),
  read_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (observed_at, source)
);
COMMENT ON COLUMN staking.price.observed_at IS 'when the source found the price';
COMMENT ON COLUMN staking.price.read_at IS 'when it was last read from the source: the newest reading counts, also after a change of the source';
CREATE INDEX price_read_at ON staking.price (read_at DESC);

CREATE VIEW staking.balance_interval AS
SELECT wallet, balance,
       block AS from_block, lead(block) OVER of_wallet AS to_block,
       seconds AS from_seconds, lead(seconds) OVER of_wallet AS to_seconds
FROM staking.balance_change
WINDOW of_wallet AS (PARTITION BY wallet ORDER BY block);
COMMENT ON VIEW staking.balance_interval IS 'half-open intervals [from, to); the newest of a wallet has no end';
`;

const GUARDS = `
CREATE FUNCTION staking.guard_added_changes() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  state staking.index_state;
  batch record;
BEGIN
  SELECT min(block) AS first_block, max(block) AS last_block, min(low) AS first_seconds, max(high) AS last_seconds,
         bool_or(low <> high OR low < before) AS backwards
  INTO batch
  FROM (SELECT block, min(seconds) AS low, max(seconds) AS high, lag(max(seconds)) OVER (ORDER BY block) AS before
        FROM added GROUP BY block) AS of_block;
  IF batch.first_block IS NULL THEN RETURN NULL; END IF;
  SELECT * INTO STRICT state FROM staking.index_state FOR NO KEY UPDATE;
  IF batch.first_block <= greatest(state.head_number, state.written_number) THEN
    RAISE EXCEPTION 'a balance change at block % is not above the indexed block %',
      batch.first_block, greatest(state.head_number, state.written_number) USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  IF batch.backwards OR batch.first_seconds < greatest(state.head_seconds, state.written_seconds) THEN
    RAISE EXCEPTION 'time runs backwards in the balance changes of blocks % to %', batch.first_block, batch.last_block
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  UPDATE staking.index_state SET written_number = batch.last_block, written_seconds = batch.last_seconds;
  RETURN NULL;
END $$;

CREATE TRIGGER added AFTER INSERT ON staking.balance_change
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION staking.guard_added_changes();

CREATE FUNCTION staking.guard_removed_changes() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  first_block bigint;
BEGIN
  SELECT min(block) INTO first_block FROM removed;
  IF EXISTS (SELECT FROM staking.balance_change WHERE block >= first_block) THEN
    RAISE EXCEPTION 'balance changes are removed from the newest end only, all at and above block %', first_block
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER removed AFTER DELETE ON staking.balance_change
  REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION staking.guard_removed_changes();

CREATE FUNCTION staking.refuse_edited_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a balance change is never edited: remove it and everything above, and index again'
    USING ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE TRIGGER edited BEFORE UPDATE ON staking.balance_change
  FOR EACH STATEMENT EXECUTE FUNCTION staking.refuse_edited_changes();

CREATE FUNCTION staking.guard_head() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.fence < OLD.fence THEN
    RAISE EXCEPTION 'the fence never goes back' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  IF NEW.head_number < OLD.head_number THEN
    IF EXISTS (SELECT FROM staking.balance_change WHERE block > NEW.head_number) THEN
      RAISE EXCEPTION 'the head cannot go back to block % below existing balance changes', NEW.head_number
        USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    NEW.written_number := NULL;
    NEW.written_seconds := NULL;
  ELSIF NEW.head_number = OLD.head_number AND NEW.head_hash <> OLD.head_hash THEN
    RAISE EXCEPTION 'the head at block % is replaced only by going back first', NEW.head_number
      USING ERRCODE = 'integrity_constraint_violation';
  ELSIF NEW.head_number > OLD.head_number
    AND (NEW.head_number < NEW.written_number OR NEW.head_seconds < greatest(OLD.head_seconds, NEW.written_seconds)) THEN
    RAISE EXCEPTION 'the head at block % is behind what was written below it', NEW.head_number
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;

CREATE TRIGGER guard_head BEFORE UPDATE OF fence, head_number, head_hash, head_seconds ON staking.index_state
  FOR EACH ROW EXECUTE FUNCTION staking.guard_head();
`;
