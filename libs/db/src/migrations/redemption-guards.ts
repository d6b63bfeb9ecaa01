/** The triggers of the redemption migration: part of it, so never edited once released. */
export const GUARDS = `
CREATE FUNCTION redemption.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'rows of %.% are never changed or removed (%)', TG_TABLE_SCHEMA, TG_TABLE_NAME, TG_OP
    USING ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON redemption.transition
  FOR EACH STATEMENT EXECUTE FUNCTION redemption.refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON redemption.audit
  FOR EACH STATEMENT EXECUTE FUNCTION redemption.refuse_change();
CREATE TRIGGER never_removed BEFORE DELETE OR TRUNCATE ON redemption.redemption
  FOR EACH STATEMENT EXECUTE FUNCTION redemption.refuse_change();
CREATE TRIGGER never_removed BEFORE DELETE OR TRUNCATE ON redemption.confirmation
  FOR EACH STATEMENT EXECUTE FUNCTION redemption.refuse_change();
CREATE TRIGGER never_removed BEFORE DELETE OR TRUNCATE ON redemption.partner_call
  FOR EACH STATEMENT EXECUTE FUNCTION redemption.refuse_change();

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
DECLARE
  bare redemption.redemption;
BEGIN
  -- I10.
  IF OLD.state IN ('claimed', 'reverted', 'failed') THEN
    PERFORM redemption.refuse(format('redemption %s is %s, which is final', OLD.id, OLD.state));
  END IF;
  IF NEW.version = OLD.version THEN
    bare := NEW;
    bare.leased_until := OLD.leased_until;
    bare.lease_owner := OLD.lease_owner;
    IF bare IS DISTINCT FROM OLD THEN
      PERFORM redemption.refuse(format('only the lease of redemption %s can change within version %s', OLD.id, OLD.version));
    END IF;
    RETURN NEW;
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
  FOR EACH ROW EXECUTE FUNCTION redemption.guard_redemption();

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
`;
