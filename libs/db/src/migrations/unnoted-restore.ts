import { SqlMigration } from '../connection/schema-migration.js';

/**
 * The mark that a restore leaves in the ledger: while it is there, no redemption is created or planned, no call to a partner begins, and
 * none ends as failed or reverted. Triggers enforce it, for whatever connects; the note of the restore removes it.
 */
export class UnnotedRestore1760000006000 extends SqlMigration {
  /** An older program sets no mark, and is held to the mark like the newer one. */
  readonly olderMayStart = true;
  readonly upStatements = [ADD];
  readonly downStatements = [REMOVE];
}

// A restored dump may have the table already, and the mark in it: deploy/pgbackrest/restored.sql makes both before this migration runs.
const ADD = `
CREATE TABLE IF NOT EXISTS redemption.unnoted_restore (
  noticed text PRIMARY KEY CHECK (noticed <> ''),
  at timestamptz NOT NULL DEFAULT now(),
  missing_at timestamptz
);
COMMENT ON TABLE redemption.unnoted_restore IS 'the ledger went back in time, and no note says from when on it lacks something: nothing is paid, deducted or given back';
COMMENT ON COLUMN redemption.unnoted_restore.missing_at IS 'something of this moment is known to be missing';

CREATE FUNCTION redemption.refuse_unnoted() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
  IF EXISTS (SELECT FROM redemption.unnoted_restore) THEN
    RAISE EXCEPTION 'the ledger was restored, and the restore was not noted: run \`ledger restored\`'
      USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'restore_noted';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER restore_noted_new BEFORE INSERT ON redemption.redemption
  FOR EACH ROW EXECUTE FUNCTION redemption.refuse_unnoted();
-- A final row gets no mark by the note. What a partner or the chain has said meanwhile is still written down.
CREATE TRIGGER restore_noted BEFORE UPDATE ON redemption.redemption
  FOR EACH ROW WHEN (NEW.version <> OLD.version AND (NEW.state IN ('failed', 'reverted')
    OR (OLD.plan_amount IS NULL AND NEW.plan_amount IS NOT NULL)
    OR (NEW.open_call IS NOT NULL AND NEW.open_call ->> 'requestId' IS DISTINCT FROM OLD.open_call ->> 'requestId')))
  EXECUTE FUNCTION redemption.refuse_unnoted();

-- A note that begins after what is known to be missing is not the note of that restore.
CREATE FUNCTION redemption.forget_unnoted() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
  DELETE FROM redemption.unnoted_restore WHERE missing_at IS NULL OR missing_at >= NEW.lost_since;
  RETURN NULL;
END $$;
CREATE TRIGGER forget_unnoted AFTER INSERT ON redemption.ledger_restore
  FOR EACH ROW EXECUTE FUNCTION redemption.forget_unnoted();
`;

const REMOVE = `
DROP TRIGGER forget_unnoted ON redemption.ledger_restore;
DROP FUNCTION redemption.forget_unnoted();
DROP TRIGGER restore_noted ON redemption.redemption;
DROP TRIGGER restore_noted_new ON redemption.redemption;
DROP FUNCTION redemption.refuse_unnoted();
DROP TABLE redemption.unnoted_restore;
`;
