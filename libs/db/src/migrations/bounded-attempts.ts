import { SqlMigration } from '../connection/schema-migration.js';

/**
 * Bounds what attempts leave behind that came to nothing: wallets wait longer each time, and what moved no points is forgotten again,
 * namely redemptions that never began and the log of balance reads. Everything else is still never removed.
 */
export class BoundedAttempts1760000000020 extends SqlMigration {
  /** An older program forgets nothing and lets no wallet wait. */
  readonly olderMayStart = true;
  readonly upStatements = [UP];
  readonly downStatements = [DOWN];
}

const UP = `
CREATE TABLE redemption.vain_attempt (
  wallet bytea PRIMARY KEY CHECK (octet_length(wallet) = 20),
  attempts int NOT NULL CHECK (attempts > 0),
  wait_until timestamptz NOT NULL
);
COMMENT ON TABLE redemption.vain_attempt IS 'wallets whose redemptions came to nothing, for points that they do not have say';
CREATE INDEX vain_attempt_wait ON redemption.vain_attempt (wait_until);

CREATE INDEX redemption_never_begun ON redemption.redemption (failed_at) WHERE state = 'failed' AND pending_at IS NULL;
CREATE INDEX partner_call_balance ON redemption.partner_call (begun_at) WHERE redemption_id IS NULL;

-- No call was ever made for it, it is final for a day, and no command of an operator is about it.
CREATE FUNCTION redemption.is_forgettable(r redemption.redemption) RETURNS boolean LANGUAGE sql STABLE SET search_path = pg_catalog
RETURN r.state = 'failed' AND r.pending_at IS NULL AND r.failed_at < now() - interval '1 day'
  AND NOT EXISTS (SELECT FROM redemption.audit a WHERE a.redemption_id = r.id);

CREATE FUNCTION redemption.guard_removal() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  may boolean;
BEGIN
  CASE TG_TABLE_NAME
    WHEN 'redemption' THEN may := redemption.is_forgettable(OLD);
    WHEN 'transition' THEN
      may := EXISTS (SELECT FROM redemption.redemption r WHERE r.id = OLD.redemption_id AND redemption.is_forgettable(r));
    ELSE may := OLD.redemption_id IS NULL;
  END CASE;
  IF NOT may THEN
    RAISE EXCEPTION 'rows of %.% are never changed or removed (%)', TG_TABLE_SCHEMA, TG_TABLE_NAME, TG_OP
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN OLD;
END $$;
DROP TRIGGER append_only ON redemption.transition;
CREATE TRIGGER append_only BEFORE UPDATE OR TRUNCATE ON redemption.transition
  FOR EACH STATEMENT EXECUTE FUNCTION redemption.refuse_change();
DROP TRIGGER never_removed ON redemption.redemption;
CREATE TRIGGER never_removed BEFORE TRUNCATE ON redemption.redemption
  FOR EACH STATEMENT EXECUTE FUNCTION redemption.refuse_change();
DROP TRIGGER never_removed ON redemption.partner_call;
CREATE TRIGGER never_removed BEFORE TRUNCATE ON redemption.partner_call
  FOR EACH STATEMENT EXECUTE FUNCTION redemption.refuse_change();
CREATE TRIGGER guard_removal BEFORE DELETE ON redemption.transition
  FOR EACH ROW EXECUTE FUNCTION redemption.guard_removal();
CREATE TRIGGER guard_removal BEFORE DELETE ON redemption.redemption
  FOR EACH ROW EXECUTE FUNCTION redemption.guard_removal();
CREATE TRIGGER guard_removal BEFORE DELETE ON redemption.partner_call
  FOR EACH ROW EXECUTE FUNCTION redemption.guard_removal();

-- The service needs no right to delete: this function is all that it can have deleted. Returns how many rows are gone, of both kinds.
CREATE FUNCTION redemption.forget_attempts(failed_before timestamptz, reads_before timestamptz, reads_kept int, at_most int)
RETURNS int LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
  failed uuid[];
  reads int;
BEGIN
  -- One sweep at a time is enough.
  IF NOT pg_try_advisory_xact_lock(4219, 0) THEN
    RETURN 0;
  END IF;
  failed := ARRAY(SELECT r.id FROM redemption.redemption r
    WHERE r.state = 'failed' AND r.pending_at IS NULL AND r.failed_at < failed_before AND redemption.is_forgettable(r)
    ORDER BY r.failed_at LIMIT at_most);
  DELETE FROM redemption.transition WHERE redemption_id = ANY (failed);
  DELETE FROM redemption.idempotency_key WHERE redemption_id = ANY (failed);
  DELETE FROM redemption.redemption WHERE id = ANY (failed);
  DELETE FROM redemption.partner_call WHERE request_id IN (
    SELECT c.request_id FROM redemption.partner_call c WHERE c.redemption_id IS NULL AND (c.begun_at < reads_before
      OR c.begun_at <= (SELECT k.begun_at FROM redemption.partner_call k WHERE k.redemption_id IS NULL
        ORDER BY k.begun_at DESC OFFSET reads_kept LIMIT 1))
    ORDER BY c.begun_at LIMIT at_most);
  GET DIAGNOSTICS reads = ROW_COUNT;
  RETURN cardinality(failed) + reads;
END $$;
`;

const DOWN = `
DROP FUNCTION redemption.forget_attempts(timestamptz, timestamptz, int, int);
DROP TRIGGER guard_removal ON redemption.partner_call;
DROP TRIGGER guard_removal ON redemption.redemption;
DROP TRIGGER guard_removal ON redemption.transition;
DROP TRIGGER never_removed ON redemption.partner_call;
CREATE TRIGGER never_removed BEFORE DELETE OR TRUNCATE ON redemption.partner_call
  FOR EACH STATEMENT EXECUTE FUNCTION redemption.refuse_change();
DROP TRIGGER never_removed ON redemption.redemption;
CREATE TRIGGER never_removed BEFORE DELETE OR TRUNCATE ON redemption.redemption
  FOR EACH STATEMENT EXECUTE FUNCTION redemption.refuse_change();
DROP TRIGGER append_only ON redemption.transition;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON redemption.transition
  FOR EACH STATEMENT EXECUTE FUNCTION redemption.refuse_change();
DROP FUNCTION redemption.guard_removal();
DROP FUNCTION redemption.is_forgettable(redemption.redemption);
DROP INDEX redemption.partner_call_balance;
DROP INDEX redemption.redemption_never_begun;
DROP TABLE redemption.vain_attempt;
`;
