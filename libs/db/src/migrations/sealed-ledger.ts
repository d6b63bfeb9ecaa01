import { SqlMigration } from '../connection/schema-migration.js';
import { withinVersionGuard } from './redemption-macs.js';

/** Bounds what one stolen credential of a program can do to the ledger: by triggers, which hold for whatever connects. */
export class SealedLedger1760000000023 extends SqlMigration {
  /** Refused is only what no release writes. */
  readonly olderMayStart = true;
  readonly upStatements = [ADD_SEALED_LEDGER];
  readonly downStatements = [REMOVE_SEALED_LEDGER];
}

const ADD_SEALED_LEDGER = `
-- Checked when it is noted and never again: a dump of any age can be restored. A clock may be ten minutes ahead of this server's, and
-- no voucher lives longer than 86400 s, the most that VOUCHER_TTL_SECONDS can be, with ten minutes for the clocks.
CREATE FUNCTION redemption.guard_ledger_restore() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.at > now() + interval '10 minutes' THEN
    PERFORM redemption.refuse('a restore is noted at most ten minutes ahead of the clock of the database');
  END IF;
  IF NEW.vouchers_until_seconds > extract(epoch FROM NEW.at) + 86400 + 601 THEN
    PERFORM redemption.refuse('no voucher of before a restore can be claimed later than a day after it');
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER guard_new BEFORE INSERT ON redemption.ledger_restore
  FOR EACH ROW EXECUTE FUNCTION redemption.guard_ledger_restore();

-- What was counted on a day stays counted, on that day.
CREATE FUNCTION redemption.guard_coin_spent() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.wei < OLD.wei OR (NEW.chain_id, NEW.account, NEW.day) IS DISTINCT FROM (OLD.chain_id, OLD.account, OLD.day) THEN
    PERFORM redemption.refuse(format('the coin that was spent on %s is never lowered', OLD.day));
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER guard BEFORE UPDATE ON redemption.coin_spent
  FOR EACH ROW EXECUTE FUNCTION redemption.guard_coin_spent();

CREATE TABLE redemption.task (task text PRIMARY KEY);
COMMENT ON TABLE redemption.task IS 'work of one process at a time: who does it has its row locked';
INSERT INTO redemption.task VALUES ('claim-watch'), ('reconciliation');
-- The right to lock a row is the right to change it.
CREATE TRIGGER never_changed BEFORE UPDATE OR DELETE OR TRUNCATE ON redemption.task
  FOR EACH STATEMENT EXECUTE FUNCTION redemption.refuse_change();

-- Each change of what may still be paid is counted, also that of a redemption that stays in attention.
DROP TRIGGER count_reserved ON redemption.redemption;
CREATE TRIGGER count_reserved AFTER UPDATE ON redemption.redemption
  FOR EACH ROW WHEN (NEW.state <> OLD.state OR NEW.resume IS DISTINCT FROM OLD.resume)
  EXECUTE FUNCTION redemption.count_reserved();
-- Nothing is counted meanwhile: the trigger's lock is held on the table, this one on the sum.
SELECT FROM redemption.reserved WHERE subject = 'payouts' FOR UPDATE;
UPDATE redemption.reserved SET tokens =
    (SELECT coalesce(sum(token_amount), 0) FROM redemption.redemption WHERE redemption.is_payable(state, resume))
    + (SELECT coalesce(sum(tokens), 0) FROM redemption.released WHERE subject = 'payouts')
  WHERE subject = 'payouts';

-- What the service reads back must have been written so. Only what changes is looked at: an odd row of before is no reason to refuse its
-- lease, nor an upgrade. Outcome and step have constraints of their own.
CREATE FUNCTION redemption.is_block(b jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN coalesce(jsonb_typeof(b -> 'number') = 'string' AND b ->> 'number' ~ '^[0-9]{1,78}$'
  AND b ->> 'hash' ~* '^0x[0-9a-f]{64}$' AND jsonb_typeof(b -> 'timestampSeconds') = 'number', false);
CREATE FUNCTION redemption.is_event(e jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN coalesce(e ->> 'transactionHash' ~* '^0x[0-9a-f]{64}$' AND redemption.is_block(e -> 'block'), false);
CREATE FUNCTION redemption.is_dead_evidence(e jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN coalesce(redemption.is_block(e -> 'finalised')
  AND (e ->> 'reason' = 'expired' OR (e ->> 'reason' = 'cancelled' AND redemption.is_event(e))), false);
CREATE FUNCTION redemption.is_paid_evidence(e jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN coalesce(redemption.is_block(e -> 'finalised') AND redemption.is_event(e)
  AND e ->> 'recipient' ~* '^0x[0-9a-f]{40}$'
  AND jsonb_typeof(e -> 'amount') = 'string' AND e ->> 'amount' ~ '^[0-9]{1,78}$', false);
CREATE FUNCTION redemption.is_open_call(c jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN coalesce(jsonb_typeof(c -> 'requestId') = 'string' AND jsonb_typeof(c -> 'startedAtMs') = 'number'
  AND (NOT c ? 'target' OR c #>> '{target,by}' = 'redemption'
    OR (c #>> '{target,by}' IN ('transaction', 'candidate') AND jsonb_typeof(c #> '{target,transactionId}') = 'string')), false);

CREATE FUNCTION redemption.guard_shapes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.dead_evidence IS DISTINCT FROM OLD.dead_evidence AND NOT redemption.is_dead_evidence(NEW.dead_evidence)
    AND NEW.dead_evidence IS NOT NULL THEN
    PERFORM redemption.refuse(format('the dead_evidence of redemption %s cannot be read', NEW.id));
  END IF;
  IF NEW.paid_evidence IS DISTINCT FROM OLD.paid_evidence AND NOT redemption.is_paid_evidence(NEW.paid_evidence)
    AND NEW.paid_evidence IS NOT NULL THEN
    PERFORM redemption.refuse(format('the paid_evidence of redemption %s cannot be read', NEW.id));
  END IF;
  IF NEW.open_call IS DISTINCT FROM OLD.open_call AND NOT redemption.is_open_call(NEW.open_call)
    AND NEW.open_call IS NOT NULL THEN
    PERFORM redemption.refuse(format('the open_call of redemption %s cannot be read', NEW.id));
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER shape_new BEFORE INSERT ON redemption.redemption
  FOR EACH ROW WHEN (num_nonnulls(NEW.dead_evidence, NEW.paid_evidence, NEW.open_call) > 0)
  EXECUTE FUNCTION redemption.guard_shapes();
CREATE TRIGGER shape BEFORE UPDATE ON redemption.redemption
  FOR EACH ROW WHEN ((NEW.dead_evidence, NEW.paid_evidence, NEW.open_call)
    IS DISTINCT FROM (OLD.dead_evidence, OLD.paid_evidence, OLD.open_call))
  EXECUTE FUNCTION redemption.guard_shapes();
`;

const REMOVE_SEALED_LEDGER = `
DROP TRIGGER shape ON redemption.redemption;
DROP TRIGGER shape_new ON redemption.redemption;
DROP FUNCTION redemption.guard_shapes();
DROP FUNCTION redemption.is_open_call(jsonb);
DROP FUNCTION redemption.is_paid_evidence(jsonb);
DROP FUNCTION redemption.is_dead_evidence(jsonb);
DROP FUNCTION redemption.is_event(jsonb);
DROP FUNCTION redemption.is_block(jsonb);
DROP TRIGGER count_reserved ON redemption.redemption;
CREATE TRIGGER count_reserved AFTER UPDATE ON redemption.redemption
  FOR EACH ROW WHEN (NEW.state <> OLD.state) EXECUTE FUNCTION redemption.count_reserved();
DROP TABLE redemption.task;
DROP TRIGGER guard ON redemption.coin_spent;
DROP FUNCTION redemption.guard_coin_spent();
DROP TRIGGER guard_new ON redemption.ledger_restore;
DROP FUNCTION redemption.guard_ledger_restore();
`;

/**
 * What a restore may have lost of a redemption is a column of its row. The note of a restore writes it, by a trigger, so that no program,
 * not even one of before, can note a restore without it; and no program can write anything else into it.
 */
export class RestoreMark1760000000024 extends SqlMigration {
  readonly olderMayStart = true;
  readonly upStatements = [ADD_RESTORE_MARK];
  readonly downStatements = [REMOVE_RESTORE_MARK];
}

const MACS = 'bare.evidence_mac := OLD.evidence_mac;\n  bare.names_mac := OLD.names_mac;';

const ADD_RESTORE_MARK = `
ALTER TABLE redemption.redemption ADD COLUMN lost_voucher_until_seconds bigint;
COMMENT ON COLUMN redemption.redemption.lost_voucher_until_seconds IS
  'Unix seconds: the ledger was restored, and a voucher that it lacks can be claimed until then; null where nothing was lost';
${withinVersionGuard(`${MACS}\n  bare.lost_voucher_until_seconds := OLD.lost_voucher_until_seconds;`)}

-- A redemption that was planned before the loss has no other voucher than that of its plan.
CREATE FUNCTION redemption.lost_voucher_until(r redemption.redemption) RETURNS bigint LANGUAGE sql STABLE
RETURN (SELECT max(l.vouchers_until_seconds) FROM redemption.ledger_restore l
  WHERE r.initial_at < l.at AND (r.authorised_at IS NULL OR r.authorised_at >= l.lost_since));

-- A final row has lost nothing that could still happen, and never changes.
CREATE FUNCTION redemption.mark_restored() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  LOCK TABLE redemption.redemption IN EXCLUSIVE MODE;
  UPDATE redemption.redemption r SET lost_voucher_until_seconds = redemption.lost_voucher_until(r)
    WHERE r.state NOT IN ('claimed', 'reverted', 'failed')
      AND r.lost_voucher_until_seconds IS DISTINCT FROM redemption.lost_voucher_until(r);
  RETURN NULL;
END $$;
CREATE TRIGGER mark AFTER INSERT ON redemption.ledger_restore
  FOR EACH STATEMENT EXECUTE FUNCTION redemption.mark_restored();

-- Also a redemption that is made after the note by a clock that is behind it.
CREATE FUNCTION redemption.mark_new() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.lost_voucher_until_seconds := redemption.lost_voucher_until(NEW);
  RETURN NEW;
END $$;
CREATE TRIGGER mark_new BEFORE INSERT ON redemption.redemption
  FOR EACH ROW EXECUTE FUNCTION redemption.mark_new();

CREATE FUNCTION redemption.guard_mark() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.lost_voucher_until_seconds IS DISTINCT FROM redemption.lost_voucher_until(OLD) THEN
    PERFORM redemption.refuse(format('what a restore has lost of redemption %s is for its note to say', NEW.id));
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER guard_mark BEFORE UPDATE ON redemption.redemption
  FOR EACH ROW WHEN (NEW.lost_voucher_until_seconds IS DISTINCT FROM OLD.lost_voucher_until_seconds)
  EXECUTE FUNCTION redemption.guard_mark();

UPDATE redemption.redemption r SET lost_voucher_until_seconds = redemption.lost_voucher_until(r)
  WHERE r.state NOT IN ('claimed', 'reverted', 'failed') AND redemption.lost_voucher_until(r) IS NOT NULL;
`;

const REMOVE_RESTORE_MARK = `
DROP TRIGGER mark ON redemption.ledger_restore;
DROP FUNCTION redemption.mark_restored();
DROP TRIGGER mark_new ON redemption.redemption;
DROP FUNCTION redemption.mark_new();
DROP TRIGGER guard_mark ON redemption.redemption;
DROP FUNCTION redemption.guard_mark();
DROP FUNCTION redemption.lost_voucher_until(redemption.redemption);
${withinVersionGuard(MACS)}
ALTER TABLE redemption.redemption DROP COLUMN lost_voucher_until_seconds;
`;
