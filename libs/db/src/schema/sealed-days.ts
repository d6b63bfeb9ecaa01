/**
 * Sealed days: of each UTC day that is final the root over all wallets' lows, and for the newest days what proofs are made of. A day
 * is never changed: where it comes out differently later it gets another revision. What takes blocks of sealed days out of the index
 * notes by itself that they have to be worked out again. See docs/decisions/0011-sealed-days.md.
 */
export const SEALED_DAYS = `
CREATE TABLE staking.sealed_day (
  day int NOT NULL, -- days since 1970-01-01 UTC
  revision int NOT NULL, -- from 1 on; the newest counts
  root bytea NOT NULL CHECK (octet_length(root) = 32), -- of the Merkle tree over (wallet, low, next)
  wallets int NOT NULL CHECK (wallets >= 0), -- those with a low above zero
  total numeric(78, 0) NOT NULL CHECK (total >= 0), -- the sum of their lows, in the smallest unit of the token
  block_number bigint NOT NULL CHECK (block_number >= 0), -- the last block of the day
  block_hash bytea NOT NULL CHECK (octet_length(block_hash) = 32),
  software text NOT NULL CHECK (software <> ''),
  previous_root bytea CHECK (octet_length(previous_root) = 32), -- of the revision before this one
  sealed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (day, revision),
  CHECK ((previous_root IS NULL) = (revision = 1)),
  CHECK ((wallets = 0) = (total = 0))
);
COMMENT ON TABLE staking.sealed_day IS 'the low-water marks of all wallets on a UTC day that is final; never changed';

CREATE TABLE staking.sealed_leaves (
  day int NOT NULL,
  revision int NOT NULL,
  chunk int NOT NULL CHECK (chunk >= 0),
  first_wallet bytea NOT NULL CHECK (octet_length(first_wallet) = 20),
  -- 52 bytes for each: the wallet, and its low as a uint256; 0 at the ends only.
  leaves bytea NOT NULL CHECK (octet_length(leaves) > 0 AND octet_length(leaves) % 52 = 0),
  -- 4 bytes for each, big-endian: the place of the leaf among the nodes.
  indices bytea NOT NULL CHECK (octet_length(indices) = octet_length(leaves) / 52 * 4),
  PRIMARY KEY (day, revision, chunk),
  UNIQUE (day, revision, first_wallet),
  FOREIGN KEY (day, revision) REFERENCES staking.sealed_day
);
COMMENT ON TABLE staking.sealed_leaves IS 'the leaves of the newest sealed days in the order of their wallets, 256 in a chunk';

CREATE TABLE staking.sealed_nodes (
  day int NOT NULL,
  revision int NOT NULL,
  chunk int NOT NULL CHECK (chunk >= 0),
  nodes bytea NOT NULL CHECK (octet_length(nodes) > 0 AND octet_length(nodes) % 32 = 0),
  PRIMARY KEY (day, revision, chunk),
  FOREIGN KEY (day, revision) REFERENCES staking.sealed_day
);
-- Hashes do not shrink, and a node is cut out of a value that is not packed without reading all of it.
ALTER TABLE staking.sealed_nodes ALTER COLUMN nodes SET STORAGE EXTERNAL;
COMMENT ON TABLE staking.sealed_nodes IS 'the Merkle trees of the newest sealed days, the root first, 1024 nodes in a chunk';

CREATE TABLE staking.seal_recheck (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  from_day int NOT NULL
);
COMMENT ON TABLE staking.seal_recheck IS 'while there is a row sealed days from this one on have to be worked out again; add one with a day to demand it';

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON staking.sealed_day
  FOR EACH STATEMENT EXECUTE FUNCTION lowmark.refuse_change('a sealed day is never changed: what comes out differently is a new revision');
CREATE TRIGGER unchanged BEFORE UPDATE ON staking.sealed_leaves
  FOR EACH STATEMENT EXECUTE FUNCTION lowmark.refuse_change('a sealed day is never changed: what comes out differently is a new revision');
CREATE TRIGGER unchanged BEFORE UPDATE ON staking.sealed_nodes
  FOR EACH STATEMENT EXECUTE FUNCTION lowmark.refuse_change('a sealed day is never changed: what comes out differently is a new revision');

CREATE FUNCTION staking.guard_sealed_day() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  before staking.sealed_day;
BEGIN
  SELECT * INTO before FROM staking.sealed_day WHERE day = NEW.day ORDER BY revision DESC LIMIT 1;
  IF NEW.revision <> coalesce(before.revision, 0) + 1 OR NEW.previous_root IS DISTINCT FROM before.root THEN
    RAISE EXCEPTION 'revision % of day % does not follow the one that is there', NEW.revision, NEW.day
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;

CREATE TRIGGER follows BEFORE INSERT ON staking.sealed_day
  FOR EACH ROW EXECUTE FUNCTION staking.guard_sealed_day();

CREATE FUNCTION staking.note_sealed_days() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO staking.seal_recheck AS noted (from_day)
  SELECT min(day) FROM staking.sealed_day WHERE TG_OP = 'INSERT' OR block_number > NEW.head_number HAVING count(*) > 0
  ON CONFLICT (only_row) DO UPDATE SET from_day = least(noted.from_day, excluded.from_day);
  RETURN NULL;
END $$;

CREATE TRIGGER sealed_before AFTER INSERT ON staking.index_state
  FOR EACH ROW EXECUTE FUNCTION staking.note_sealed_days();
CREATE TRIGGER sealed_taken_back AFTER UPDATE ON staking.index_state
  FOR EACH ROW WHEN (NEW.head_number < OLD.head_number) EXECUTE FUNCTION staking.note_sealed_days();
`;
