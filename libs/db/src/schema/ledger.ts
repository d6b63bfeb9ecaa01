/**
 * What is reserved of the vault and of the partners' budgets: from the start of the deduction on, nothing for a redemption that was only
 * asked for. The sums are kept by a trigger, so that a reservation costs the same however much is open, and no writer can forget it.
 */
export const LEDGER = `
CREATE TABLE redemption.reserved (
  subject text PRIMARY KEY CHECK (subject <> ''),
  tokens numeric NOT NULL
) WITH (fillfactor = 10);
COMMENT ON TABLE redemption.reserved IS 'tokens in the smallest unit; subject: payouts (open, may still be paid), or a partner and a UTC day';
CREATE TABLE redemption.released (
  subject text NOT NULL,
  tokens numeric NOT NULL
);
COMMENT ON TABLE redemption.released IS 'to be taken off what is reserved: rows of their own, so that nothing waits for a release';
CREATE INDEX released_subject ON redemption.released (subject);

CREATE FUNCTION redemption.budget_subject(of_partner uuid, begun timestamptz) RETURNS text LANGUAGE sql STABLE
RETURN of_partner::text || ' ' || extract(epoch FROM date_trunc('day', begun, 'UTC'))::bigint::text;

-- May still be paid.
CREATE FUNCTION redemption.is_payable(in_state text, resume text) RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN in_state IN ('deducting', 'deducted', 'authorised') OR coalesce(resume = 'authorised', false);

-- Counts in the day of its partner.
CREATE FUNCTION redemption.is_budgeted(in_state text) RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN in_state NOT IN ('created', 'reverted', 'failed');

CREATE FUNCTION redemption.count_reserved() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
  was boolean := redemption.is_payable(OLD.state, OLD.resume);
  is_now boolean := redemption.is_payable(NEW.state, NEW.resume);
BEGIN
  IF is_now AND NOT was THEN
    INSERT INTO redemption.reserved AS r VALUES ('payouts', NEW.token_amount)
      ON CONFLICT (subject) DO UPDATE SET tokens = r.tokens + excluded.tokens;
  ELSIF was AND NOT is_now THEN
    INSERT INTO redemption.released VALUES ('payouts', NEW.token_amount);
  END IF;
  was := redemption.is_budgeted(OLD.state);
  is_now := redemption.is_budgeted(NEW.state);
  IF is_now AND NOT was THEN
    INSERT INTO redemption.reserved AS r VALUES (redemption.budget_subject(NEW.partner, NEW.initial_at), NEW.token_amount)
      ON CONFLICT (subject) DO UPDATE SET tokens = r.tokens + excluded.tokens;
  ELSIF was AND NOT is_now THEN
    INSERT INTO redemption.released VALUES (redemption.budget_subject(NEW.partner, NEW.initial_at), NEW.token_amount);
  END IF;
  RETURN NULL;
END $$;
-- Each change of what may still be paid is counted, also that of a redemption that stays in attention.
CREATE TRIGGER count_reserved AFTER UPDATE ON redemption.redemption
  FOR EACH ROW WHEN (NEW.state <> OLD.state OR NEW.resume IS DISTINCT FROM OLD.resume)
  EXECUTE FUNCTION redemption.count_reserved();

INSERT INTO redemption.reserved VALUES ('payouts', 0);

-- What is reserved now, for a look: only hold() keeps it so.
CREATE FUNCTION redemption.reserved_tokens(of_subject text) RETURNS numeric LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog
RETURN coalesce((SELECT tokens FROM redemption.reserved WHERE subject = of_subject), 0)
  - coalesce((SELECT sum(tokens) FROM redemption.released WHERE subject = of_subject), 0);

-- The same, and no other transaction reserves of it before this one has ended.
CREATE FUNCTION redemption.hold(of_subject text) RETURNS numeric LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
  held numeric;
  given numeric;
BEGIN
  SELECT tokens INTO held FROM redemption.reserved WHERE subject = of_subject FOR UPDATE;
  IF NOT FOUND THEN
    INSERT INTO redemption.reserved AS r VALUES (of_subject, 0) ON CONFLICT (subject) DO UPDATE SET tokens = r.tokens RETURNING tokens INTO held;
  END IF;
  WITH gone AS (DELETE FROM redemption.released WHERE subject = of_subject RETURNING tokens) SELECT sum(tokens) INTO given FROM gone;
  IF given IS NOT NULL THEN
    UPDATE redemption.reserved SET tokens = tokens - given WHERE subject = of_subject RETURNING tokens INTO held;
  END IF;
  RETURN held;
END $$;

-- Why these tokens cannot be reserved; null where they can, and then until the end of the transaction. Each of its statements sees what
-- others have committed before it was held: a caller in READ COMMITTED may use it within the statement that reserves.
CREATE FUNCTION redemption.reserve(of_partner uuid, of_wallet bytea, amount numeric, begun timestamptz, room numeric,
  partner_budget numeric, wallet_budget numeric) RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
  day timestamptz := date_trunc('day', begun, 'UTC');
BEGIN
  IF redemption.hold('payouts') + amount > room THEN
    RETURN 'payout-unavailable';
  END IF;
  IF partner_budget IS NOT NULL THEN
    IF redemption.hold(redemption.budget_subject(of_partner, begun)) + amount > partner_budget THEN
      RETURN 'budget-spent';
    END IF;
  END IF;
  -- A voucher that was not claimed counts in its wallet's day as if it had been paid.
  IF wallet_budget IS NOT NULL AND amount + coalesce((SELECT sum(token_amount) FROM redemption.redemption
      WHERE wallet = of_wallet AND initial_at >= day AND initial_at < day + interval '1 day'
        AND state <> 'created' AND (state NOT IN ('reverted', 'failed') OR authorised_at IS NOT NULL)), 0) > wallet_budget THEN
    RETURN 'budget-spent';
  END IF;
  RETURN NULL;
END $$;

-- What the chain paid, beside what the redemptions say of it: the daily comparison of the two with how far it has got, the watch
-- on new claims, what an operator has said of claims that no row explains, and what the service's accounts may have spent on gas
-- in a day.
CREATE TABLE redemption.reconciliation_checkpoint (
  chain_id bigint NOT NULL CHECK (chain_id > 0),
  vault bytea NOT NULL CHECK (octet_length(vault) = 20),
  start_block bigint NOT NULL CHECK (start_block >= 0),
  block_number bigint CHECK (block_number >= start_block),
  block_hash bytea CHECK (octet_length(block_hash) = 32),
  block_at timestamptz,
  claims bigint NOT NULL DEFAULT 0 CHECK (claims >= 0),
  tokens numeric(90, 0) NOT NULL DEFAULT 0 CHECK (tokens >= 0 AND tokens < 'Infinity'),
  PRIMARY KEY (chain_id, vault),
  CHECK (num_nonnulls(block_number, block_hash, block_at) IN (0, 3)),
  CHECK (block_number IS NOT NULL OR claims = 0)
);
COMMENT ON TABLE redemption.reconciliation_checkpoint IS 'the final block up to which the claims of a vault were read, and their sums';

CREATE TABLE redemption.vault_claim (
  chain_id bigint NOT NULL,
  vault bytea NOT NULL,
  vault_id bytea NOT NULL CHECK (octet_length(vault_id) = 32),
  redemption_id uuid, -- null where the id in the vault was not made of a UUIDv7
  transaction_hash bytea NOT NULL CHECK (octet_length(transaction_hash) = 32),
  block_number bigint NOT NULL CHECK (block_number >= 0),
  block_at timestamptz NOT NULL,
  recipient bytea NOT NULL CHECK (octet_length(recipient) = 20),
  amount numeric(78, 0) NOT NULL CHECK (amount >= 0 AND amount < 'Infinity'),
  seen_at timestamptz NOT NULL,
  settled boolean NOT NULL DEFAULT false, -- found to be the claim of a claimed row, which is final
  PRIMARY KEY (chain_id, vault, vault_id),
  FOREIGN KEY (chain_id, vault) REFERENCES redemption.reconciliation_checkpoint
) WITH (fillfactor = 90);
COMMENT ON TABLE redemption.vault_claim IS 'final claims as the chain has them, read without regard to our rows';
CREATE INDEX vault_claim_redemption ON redemption.vault_claim (redemption_id) WHERE redemption_id IS NOT NULL;
CREATE INDEX vault_claim_unsettled ON redemption.vault_claim (chain_id, vault, vault_id) WHERE NOT settled;

CREATE TABLE redemption.reconciliation_run (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL,
  figures jsonb NOT NULL,
  differences jsonb NOT NULL CHECK (jsonb_typeof(differences) = 'array')
);
COMMENT ON TABLE redemption.reconciliation_run IS 'runs that came to their end, with or without differences; amounts are strings';
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON redemption.reconciliation_run
  FOR EACH STATEMENT EXECUTE FUNCTION lowmark.refuse_change();

CREATE TABLE redemption.claim_acknowledgement (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL,
  chain_id bigint NOT NULL,
  vault bytea NOT NULL CHECK (octet_length(vault) = 20),
  vault_id bytea NOT NULL CHECK (octet_length(vault_id) = 32),
  transaction_hash bytea NOT NULL CHECK (octet_length(transaction_hash) = 32),
  kind text NOT NULL CHECK (kind IN ('without-row', 'unpayable', 'different')),
  state text,
  actor text NOT NULL CHECK (actor <> ''),
  note text NOT NULL CHECK (length(note) BETWEEN 1 AND 255)
);
COMMENT ON TABLE redemption.claim_acknowledgement IS 'good for that claim, found to be of that kind beside a row of that state, and for nothing else';
CREATE INDEX claim_acknowledgement_claim ON redemption.claim_acknowledgement (chain_id, vault, vault_id);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON redemption.claim_acknowledgement
  FOR EACH STATEMENT EXECUTE FUNCTION lowmark.refuse_change();

CREATE TABLE redemption.claim_watch (
  chain_id bigint NOT NULL,
  vault bytea NOT NULL,
  -- All final claims of older blocks were held against the redemptions, here or by the reconciliation.
  next_block bigint NOT NULL CHECK (next_block >= 0),
  looked_at timestamptz NOT NULL,
  PRIMARY KEY (chain_id, vault),
  FOREIGN KEY (chain_id, vault) REFERENCES redemption.reconciliation_checkpoint
);

CREATE TABLE redemption.claim_alarm (
  chain_id bigint NOT NULL,
  vault bytea NOT NULL,
  vault_id bytea NOT NULL CHECK (octet_length(vault_id) = 32),
  transaction_hash bytea NOT NULL CHECK (octet_length(transaction_hash) = 32),
  redemption_id uuid,
  block_number bigint NOT NULL CHECK (block_number >= 0),
  block_at timestamptz NOT NULL,
  recipient bytea NOT NULL CHECK (octet_length(recipient) = 20),
  amount numeric(78, 0) NOT NULL CHECK (amount >= 0 AND amount < 'Infinity'),
  kind text NOT NULL CHECK (kind IN ('without-row', 'unpayable', 'different')),
  state text,
  may_be_lost boolean NOT NULL, -- of a time of which a restored ledger lacks the redemptions: told, and no reason to pause
  found_at timestamptz NOT NULL,
  paused_at timestamptz, -- when the vault was first seen paused after that; a claim asks for no second pause
  PRIMARY KEY (chain_id, vault, vault_id, transaction_hash),
  FOREIGN KEY (chain_id, vault) REFERENCES redemption.reconciliation_checkpoint
);
COMMENT ON TABLE redemption.claim_alarm IS 'claims that nothing had authorised when they were found, some of them before they were final';

CREATE TABLE redemption.coin_spent (
  chain_id bigint NOT NULL CHECK (chain_id > 0),
  account bytea NOT NULL CHECK (octet_length(account) = 20),
  day date NOT NULL,
  wei numeric(78, 0) NOT NULL CHECK (wei >= 0 AND wei < 'Infinity'),
  transactions int NOT NULL CHECK (transactions > 0),
  PRIMARY KEY (chain_id, account, day)
);
COMMENT ON TABLE redemption.coin_spent IS 'the most that the transactions signed on a UTC day can cost, in the smallest unit of the chain''s coin; written before they are signed';

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

CREATE TABLE redemption.task (
  task text PRIMARY KEY,
  holder uuid,
  held_until timestamptz,
  CHECK (num_nonnulls(holder, held_until) IN (0, 2))
);
COMMENT ON TABLE redemption.task IS 'work of one process at a time: its holder renews the lease';
INSERT INTO redemption.task VALUES ('claim-watch'), ('reconciliation'), ('registry');
CREATE TRIGGER never_removed BEFORE DELETE OR TRUNCATE ON redemption.task
  FOR EACH STATEMENT EXECUTE FUNCTION lowmark.refuse_change();

-- Restores of the ledger from a backup. What one may have lost of a redemption is a column of its row. The note of a restore
-- writes it, by a trigger, so that no program can note a restore without it; and no program can write anything else into it.
CREATE TABLE redemption.ledger_restore (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL,
  lost_since timestamptz NOT NULL CHECK (lost_since <= at),
  -- Unix seconds: no voucher that was lost can be claimed later.
  vouchers_until_seconds bigint NOT NULL CHECK (vouchers_until_seconds > extract(epoch FROM at)),
  actor text NOT NULL CHECK (actor <> '')
);
COMMENT ON TABLE redemption.ledger_restore IS 'restores from a backup: what was made before one of them may have been paid without the rows knowing';
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON redemption.ledger_restore
  FOR EACH STATEMENT EXECUTE FUNCTION lowmark.refuse_change();

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

-- The mark that a restore leaves in the ledger: while it is there, no redemption is created or planned, no call to a partner
-- begins, and none ends as failed or reverted. Triggers enforce it, for whatever connects; the note of the restore removes it.
CREATE TABLE redemption.unnoted_restore (
  noticed text PRIMARY KEY CHECK (noticed <> ''),
  at timestamptz NOT NULL DEFAULT now(),
  missing_at timestamptz -- something of this moment is known to be missing
);
COMMENT ON TABLE redemption.unnoted_restore IS 'the ledger went back in time, and no note says from when on it lacks something: nothing is paid, deducted or given back';

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
