import { SqlMigration } from '../connection/schema-migration.js';

/**
 * What is reserved of the vault and of the partners' budgets: from the start of the deduction on, nothing for a redemption that was only
 * asked for. The sums are kept by a trigger, so that a reservation costs the same however much is open, and no writer can forget it.
 */
export class ReservedTokens1760000000019 extends SqlMigration {
  /** An older program reserves nothing at the deduction and everything at the creation; the trigger counts it all the same. */
  readonly olderMayStart = true;
  readonly upStatements = [UP];
  readonly downStatements = [DOWN];
}

const UP = `
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
CREATE TRIGGER count_reserved AFTER UPDATE ON redemption.redemption
  FOR EACH ROW WHEN (NEW.state <> OLD.state) EXECUTE FUNCTION redemption.count_reserved();

INSERT INTO redemption.reserved
  SELECT 'payouts', coalesce(sum(token_amount), 0) FROM redemption.redemption WHERE redemption.is_payable(state, resume);
INSERT INTO redemption.reserved
  SELECT redemption.budget_subject(partner, initial_at), sum(token_amount) FROM redemption.redemption
  WHERE redemption.is_budgeted(state) AND initial_at >= now() - interval '2 days' GROUP BY 1;

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

-- The sums of the day are read from what is reserved.
DROP INDEX redemption.redemption_partner_day;
`;

const DOWN = `
CREATE INDEX redemption_partner_day ON redemption.redemption (partner, initial_at) INCLUDE (token_amount)
  WHERE state NOT IN ('reverted', 'failed');
DROP FUNCTION redemption.reserve(uuid, bytea, numeric, timestamptz, numeric, numeric, numeric);
DROP FUNCTION redemption.hold(text);
DROP FUNCTION redemption.reserved_tokens(text);
DROP TRIGGER count_reserved ON redemption.redemption;
DROP FUNCTION redemption.count_reserved();
DROP FUNCTION redemption.is_budgeted(text);
DROP FUNCTION redemption.is_payable(text, text);
DROP FUNCTION redemption.budget_subject(uuid, timestamptz);
DROP TABLE redemption.released;
DROP TABLE redemption.reserved;
`;
