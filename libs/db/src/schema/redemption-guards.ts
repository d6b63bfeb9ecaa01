/** What may become of a redemption, its transitions, calls and confirmation. */
export const REDEMPTION_GUARDS = `
CREATE TRIGGER append_only BEFORE UPDATE OR TRUNCATE ON redemption.transition
  FOR EACH STATEMENT EXECUTE FUNCTION lowmark.refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON redemption.audit
  FOR EACH STATEMENT EXECUTE FUNCTION lowmark.refuse_change();
CREATE TRIGGER never_removed BEFORE TRUNCATE ON redemption.redemption
  FOR EACH STATEMENT EXECUTE FUNCTION lowmark.refuse_change();
CREATE TRIGGER never_removed BEFORE DELETE OR TRUNCATE ON redemption.confirmation
  FOR EACH STATEMENT EXECUTE FUNCTION lowmark.refuse_change();
CREATE TRIGGER never_removed BEFORE TRUNCATE ON redemption.partner_call
  FOR EACH STATEMENT EXECUTE FUNCTION lowmark.refuse_change();

CREATE FUNCTION redemption.refuse(what text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '%', what USING ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE FUNCTION redemption.guard_new_redemption() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.state <> 'created' OR NEW.version <> 1 THEN
    PERFORM redemption.refuse('a redemption begins as created, in version 1');
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER guard_new BEFORE INSERT ON redemption.redemption
  FOR EACH ROW EXECUTE FUNCTION redemption.guard_new_redemption();

CREATE FUNCTION redemption.guard_redemption() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- I10.
  IF OLD.state IN ('claimed', 'reverted', 'failed') THEN
    PERFORM redemption.refuse(format('redemption %s is %s, which is final', OLD.id, OLD.state));
  END IF;
  IF NEW.version <> OLD.version + 1 THEN
    PERFORM redemption.refuse(format('the version of redemption %s grows by 1, from %s', OLD.id, OLD.version));
  END IF;
  IF (NEW.id, NEW.partner, NEW.wallet, NEW.points, NEW.usd_amount, NEW.token_amount, NEW.token_decimals, NEW.price_usd,
      NEW.quote_expires_at, NEW.initial_at)
    IS DISTINCT FROM (OLD.id, OLD.partner, OLD.wallet, OLD.points, OLD.usd_amount, OLD.token_amount, OLD.token_decimals,
      OLD.price_usd, OLD.quote_expires_at, OLD.initial_at) THEN
    PERFORM redemption.refuse(format('the terms of redemption %s are frozen', OLD.id));
  END IF;
  IF OLD.plan_amount IS NOT NULL
    AND (NEW.plan_recipient, NEW.plan_amount, NEW.plan_deadline_seconds, NEW.plan_vault, NEW.plan_chain_id, NEW.plan_from_block,
      NEW.authorised_at)
    IS DISTINCT FROM (OLD.plan_recipient, OLD.plan_amount, OLD.plan_deadline_seconds, OLD.plan_vault, OLD.plan_chain_id,
      OLD.plan_from_block, OLD.authorised_at) THEN
    PERFORM redemption.refuse(format('the payout plan of redemption %s is frozen', OLD.id));
  END IF;
  IF (OLD.partner_transaction_id IS NOT NULL AND NEW.partner_transaction_id IS DISTINCT FROM OLD.partner_transaction_id)
    OR (OLD.dead_evidence IS NOT NULL AND NEW.dead_evidence IS DISTINCT FROM OLD.dead_evidence)
    OR (OLD.paid_evidence IS NOT NULL AND NEW.paid_evidence IS DISTINCT FROM OLD.paid_evidence)
    OR (OLD.pending_at IS NOT NULL AND NEW.pending_at IS DISTINCT FROM OLD.pending_at)
    OR (OLD.deducted_at IS NOT NULL AND NEW.deducted_at IS DISTINCT FROM OLD.deducted_at) THEN
    PERFORM redemption.refuse(format('what is proven of redemption %s stays as it is', OLD.id));
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER guard BEFORE UPDATE ON redemption.redemption
  FOR EACH ROW WHEN (NEW.version <> OLD.version) EXECUTE FUNCTION redemption.guard_redemption();

-- When a redemption is looked at again is no fact about it, so it may change within a version: an open payout is looked at many times,
-- and only what is learnt becomes a transition. So may the MACs, which an operator's command renews, and the mark of a restore.
CREATE FUNCTION redemption.guard_redemption_within_version() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  bare redemption.redemption;
BEGIN
  -- I10.
  IF OLD.state IN ('claimed', 'reverted', 'failed') THEN
    PERFORM redemption.refuse(format('redemption %s is %s, which is final', OLD.id, OLD.state));
  END IF;
  bare := NEW;
  bare.leased_until := OLD.leased_until;
  bare.lease_owner := OLD.lease_owner;
  bare.next_action_at := OLD.next_action_at;
  bare.evidence_mac := OLD.evidence_mac;
  bare.names_mac := OLD.names_mac;
  bare.lost_voucher_until_seconds := OLD.lost_voucher_until_seconds;
  IF bare IS DISTINCT FROM OLD THEN
    PERFORM redemption.refuse(format('only the lease and the due time of redemption %s can change within version %s',
      OLD.id, OLD.version));
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER guard_within_version BEFORE UPDATE ON redemption.redemption
  FOR EACH ROW WHEN (NEW.version = OLD.version) EXECUTE FUNCTION redemption.guard_redemption_within_version();

-- At the commit, when all that belongs to a transition must be there.
CREATE FUNCTION redemption.check_transition() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM redemption.transition t
    WHERE t.redemption_id = NEW.id AND t.version = NEW.version AND t.to_state = NEW.state) THEN
    PERFORM redemption.refuse(format('version %s of redemption %s has no transition row', NEW.version, NEW.id));
  END IF;
  -- Rule A.
  IF NEW.open_call IS NOT NULL AND NOT EXISTS (SELECT FROM redemption.partner_call c
    WHERE c.request_id = (NEW.open_call ->> 'requestId')::uuid AND c.redemption_id = NEW.id AND c.step = NEW.open_call ->> 'step') THEN
    PERFORM redemption.refuse(format('the open call of redemption %s has no call row', NEW.id));
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER complete_new AFTER INSERT ON redemption.redemption DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION redemption.check_transition();
CREATE CONSTRAINT TRIGGER complete AFTER UPDATE ON redemption.redemption DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN (NEW.version <> OLD.version) EXECUTE FUNCTION redemption.check_transition();

-- I8: with the unique key, exactly one for a redemption that ended so.
CREATE FUNCTION redemption.check_confirmation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM redemption.redemption r
    WHERE r.id = NEW.redemption_id AND r.partner = NEW.partner AND r.state = NEW.payload::jsonb ->> 'status'
      AND NEW.payload::jsonb ->> 'svcRedemptionId' = r.id::text) THEN
    PERFORM redemption.refuse(format('the confirmation of redemption %s does not say what became of it', NEW.redemption_id));
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER fits AFTER INSERT ON redemption.confirmation DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION redemption.check_confirmation();

CREATE FUNCTION redemption.guard_confirmation() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  bare redemption.confirmation;
BEGIN
  IF (NEW.redemption_id, NEW.partner, NEW.payload, NEW.created_at)
    IS DISTINCT FROM (OLD.redemption_id, OLD.partner, OLD.payload, OLD.created_at) THEN
    PERFORM redemption.refuse(format('the confirmation of redemption %s is frozen', OLD.redemption_id));
  END IF;
  bare := NEW;
  bare.leased_until := OLD.leased_until;
  bare.lease_owner := OLD.lease_owner;
  IF NEW.version <> OLD.version + 1 AND bare IS DISTINCT FROM OLD THEN
    PERFORM redemption.refuse(format('the version of the confirmation of redemption %s grows by 1', OLD.redemption_id));
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER guard BEFORE UPDATE ON redemption.confirmation
  FOR EACH ROW EXECUTE FUNCTION redemption.guard_confirmation();

CREATE FUNCTION redemption.guard_call() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.ended_at IS NOT NULL OR (NEW.request_id, NEW.redemption_id, NEW.partner, NEW.step, NEW.begun_at)
    IS DISTINCT FROM (OLD.request_id, OLD.redemption_id, OLD.partner, OLD.step, OLD.begun_at) THEN
    PERFORM redemption.refuse(format('call %s only gets its end, once', OLD.request_id));
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER guard BEFORE UPDATE ON redemption.partner_call
  FOR EACH ROW EXECUTE FUNCTION redemption.guard_call();

-- What moved no points is forgotten again, namely redemptions that never began and, but for the newest of each partner, the log
-- of balance reads. Everything else is never removed.
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
CREATE TRIGGER guard_removal BEFORE DELETE ON redemption.transition
  FOR EACH ROW EXECUTE FUNCTION redemption.guard_removal();
CREATE TRIGGER guard_removal BEFORE DELETE ON redemption.redemption
  FOR EACH ROW EXECUTE FUNCTION redemption.guard_removal();
CREATE TRIGGER guard_removal BEFORE DELETE ON redemption.partner_call
  FOR EACH ROW EXECUTE FUNCTION redemption.guard_removal();

-- The service needs no right to delete: this function is all that it can have deleted. Returns how many rows are gone, of both kinds.
-- Balance reads by their time: an index of them by partner would have to read all calls of all redemptions.
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
    SELECT reads.request_id FROM (
      SELECT c.request_id, c.begun_at, row_number() OVER (PARTITION BY c.partner ORDER BY c.begun_at DESC) AS place
      FROM redemption.partner_call c WHERE c.redemption_id IS NULL) AS reads
    WHERE reads.begun_at < reads_before OR reads.place > reads_kept
    ORDER BY reads.begun_at LIMIT at_most);
  GET DIAGNOSTICS reads = ROW_COUNT;
  RETURN cardinality(failed) + reads;
END $$;

-- Bounds what one stolen credential of a program can do to the ledger.
-- What the service reads back must have been written so. Only what changes is looked at: an odd row is no reason to refuse its lease.
-- Outcome and step have constraints of their own.
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
