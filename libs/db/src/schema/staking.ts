/**
 * The index of staked balances. A row of balance_change opens an interval that lasts until the wallet's next row; the
 * triggers let rows be added only above everything that is there, in the order of blocks and of time, and taken away only
 * from the newest end. See docs/decisions/0002-interval-by-its-opening.md.
 */
export const STAKING = `
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
  head_number bigint NOT NULL CHECK (head_number >= -1), -- newest indexed block; at creation the block before the first one
  head_hash bytea NOT NULL CHECK (octet_length(head_hash) = 32),
  head_seconds bigint NOT NULL,
  finalised_number bigint,
  finalised_hash bytea CHECK (octet_length(finalised_hash) = 32),
  finalised_seconds bigint,
  verified_number bigint,
  total numeric(78, 0) NOT NULL DEFAULT 0 CHECK (total >= 0), -- sum of all balances at the head, in the smallest unit of the token
  rollbacks bigint NOT NULL DEFAULT 0, -- grows with each rollback
  -- What is cached of the index is valid for one generation; set it to gen_random_uuid() after mending rows by hand.
  generation uuid NOT NULL DEFAULT gen_random_uuid(),
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
  balance numeric(78, 0) NOT NULL CHECK (balance >= 0), -- at the end of the block, in the smallest unit of the token
  PRIMARY KEY (wallet, block)
) PARTITION BY RANGE (block);
-- Rows arrive in the order of blocks, so a few kilobytes find those above a fork.
CREATE INDEX balance_change_block ON staking.balance_change USING brin (block) WITH (pages_per_range = 32, autosummarize = on);
CREATE TABLE staking.balance_change_1
  (LIKE staking.balance_change INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING INDEXES);
ALTER TABLE staking.balance_change ATTACH PARTITION staking.balance_change_1 FOR VALUES FROM (MINVALUE) TO (MAXVALUE);

CREATE TABLE staking.balance_day (
  wallet bytea NOT NULL CHECK (octet_length(wallet) = 20),
  day int NOT NULL, -- days since 1970-01-01 UTC
  -- Lowest balance held in the day before the closing one, the one carried in included; null where the closing balance held all day.
  low numeric(78, 0) CHECK (low >= 0),
  closing numeric(78, 0) NOT NULL CHECK (closing >= 0),
  PRIMARY KEY (wallet, day) INCLUDE (low, closing)
) PARTITION BY RANGE (day);
CREATE TABLE staking.balance_day_1
  (LIKE staking.balance_day INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING INDEXES);
ALTER TABLE staking.balance_day ATTACH PARTITION staking.balance_day_1 FOR VALUES FROM (MINVALUE) TO (MAXVALUE);

CREATE TABLE staking.day_total (
  day int PRIMARY KEY,
  total numeric(78, 0) NOT NULL CHECK (total >= 0)
);
COMMENT ON TABLE staking.day_total IS 'each day with a balance change, and the sum of all balances at its end or, on the newest day, at the head';

CREATE VIEW staking.balance_interval AS
SELECT wallet, balance,
       block AS from_block, lead(block) OVER of_wallet AS to_block,
       seconds AS from_seconds, lead(seconds) OVER of_wallet AS to_seconds
FROM staking.balance_change
WINDOW of_wallet AS (PARTITION BY wallet ORDER BY block);
COMMENT ON VIEW staking.balance_interval IS 'half-open intervals [from, to); the newest of a wallet has no end';

-- A transaction that repairs rows says so (\`SET LOCAL lowmark.repair = 'on'\`), and the guards of balance changes let it pass.
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
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT WHEN (current_setting('lowmark.repair', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION staking.guard_added_changes();

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
  REFERENCING OLD TABLE AS removed FOR EACH STATEMENT WHEN (current_setting('lowmark.repair', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION staking.guard_removed_changes();

CREATE TRIGGER edited BEFORE UPDATE ON staking.balance_change
  FOR EACH STATEMENT EXECUTE FUNCTION lowmark.refuse_change('a balance change is never edited: remove it and everything above, and index again');

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

-- The generation of the index: what was read of days that lie behind the head stays true as long as it is the same. It is renewed
-- by the database itself whenever something indexed may have been taken back, so that no program can forget it: the row is made
-- again, the head goes back or is replaced, balance changes are removed, or another leader starts (its database may have been
-- restored from a backup). Random, so that no two databases, and no two lives of one, share one.
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

-- Prices; one that the indexer has read and does not use before an operator has accepted it; what operators have accepted.
CREATE TABLE staking.price (
  observed_at timestamptz NOT NULL, -- when the source found the price
  source text NOT NULL,
  usd numeric NOT NULL CHECK (usd > 0 AND usd < 'Infinity'),
  -- When it was last read from the source: the newest reading counts, also after a change of the source.
  read_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (observed_at, source)
);
CREATE INDEX price_read_at ON staking.price (read_at DESC);

CREATE TABLE staking.price_hold (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  since timestamptz NOT NULL DEFAULT clock_timestamp(),
  reason text NOT NULL CHECK (reason <> ''),
  before_usd numeric CHECK (before_usd > 0 AND before_usd < 'Infinity'), -- the price that was in use when the hold began
  max_change numeric NOT NULL CHECK (max_change > 0 AND max_change < 'Infinity'),
  usd numeric NOT NULL CHECK (usd > 0 AND usd < 'Infinity'), -- the newest reading
  observed_at timestamptz NOT NULL,
  source text NOT NULL,
  read_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE staking.price_hold IS 'while there is a row no price is used: written by the indexer, ended by a price near one that was accepted since';

CREATE TABLE staking.price_acceptance (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  usd numeric NOT NULL CHECK (usd > 0 AND usd < 'Infinity'),
  held_usd numeric NOT NULL,
  reason text NOT NULL,
  actor text NOT NULL CHECK (actor <> '')
);
COMMENT ON TABLE staking.price_acceptance IS 'figures that an operator has accepted; never changed';
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON staking.price_acceptance
  FOR EACH STATEMENT EXECUTE FUNCTION lowmark.refuse_change();

-- What came of comparing the index with the contract and with its own sums, and what is known to be wrong until it is repaired.
CREATE TABLE staking.audit_run (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  started_at timestamptz NOT NULL,
  finished_at timestamptz NOT NULL,
  result text NOT NULL CHECK (result IN ('ok', 'different', 'impossible')), -- impossible: nothing is known about the balances, and reason says why
  reason text,
  block_number bigint CHECK (block_number >= 0),
  block_hash bytea CHECK (octet_length(block_hash) = 32),
  wallets bigint CHECK (wallets >= 0),
  compared bigint CHECK (compared >= 0), -- wallets held against the contract; null where it tells no balances
  differences bigint CHECK (differences >= 0), -- wallets that differ
  different jsonb CHECK (jsonb_typeof(different) = 'array'), -- the first of them, with both figures as strings; the next run looks at them again
  indexed_total numeric(90, 0) CHECK (indexed_total >= 0 AND indexed_total < 'Infinity'),
  contract_total numeric(90, 0) CHECK (contract_total >= 0 AND contract_total < 'Infinity'), -- null where the contract tells no total
  stored_total numeric(90, 0) CHECK (stored_total >= 0 AND stored_total < 'Infinity'), -- the total of the index at its head
  closings_total numeric(90, 0) CHECK (closings_total >= 0 AND closings_total < 'Infinity'), -- the sum of the newest closings of all wallets
  balances_total numeric(90, 0) CHECK (balances_total >= 0 AND balances_total < 'Infinity'), -- the sum of the newest balances of all wallets
  CHECK ((reason IS NOT NULL) = (result = 'impossible')),
  CHECK (num_nonnulls(block_number, block_hash, wallets, differences, different, indexed_total, stored_total, closings_total,
    balances_total) = CASE result WHEN 'impossible' THEN 0 ELSE 9 END),
  CHECK (result <> 'impossible' OR num_nonnulls(compared, contract_total) = 0),
  CONSTRAINT result_follows CHECK (result = 'impossible' OR (result = 'ok')
    = (differences = 0 AND (contract_total IS NULL OR contract_total = indexed_total)
      AND closings_total = stored_total AND balances_total = stored_total))
);
COMMENT ON TABLE staking.audit_run IS 'comparisons of the index with the contract by the indexer, of the last year; totals in the smallest unit of the token';
CREATE INDEX audit_run_finished_at ON staking.audit_run (finished_at);

CREATE TABLE staking.finding (
  wallet bytea PRIMARY KEY CHECK (octet_length(wallet) IN (0, 20)), -- empty: a sum differs, so that any wallet may be wrong
  found_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  found_by text NOT NULL CHECK (found_by <> '')
);
COMMENT ON TABLE staking.finding IS 'what a check found to be wrong, until it is repaired: the api does not answer about it';

CREATE TABLE staking.doubtful_day (day int PRIMARY KEY);
COMMENT ON TABLE staking.doubtful_day IS 'sealed days whose rows were repaired, until they are worked out again: the api does not answer about them';
`;
