-- drill.sh runs this on a restored copy. Recreates every CHECK and every foreign key, which validates every row; then
-- compares the ledger with the calls to partners, with its history and with its sums. The rollback at the end undoes all
-- changes.
BEGIN;
SET LOCAL client_min_messages = error;

DO $$
DECLARE
  rule record;
BEGIN
  FOR rule IN
    SELECT conrelid::regclass AS relation, conname, replace(pg_get_constraintdef(oid), ' NOT VALID', '') AS definition FROM pg_constraint
    WHERE contype IN ('c', 'f') AND conrelid <> 0 AND connamespace::regnamespace::text !~ '^(pg_|information_schema$)'
      AND conparentid = 0 AND conislocal ORDER BY conrelid, conname
  LOOP
    EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I, ADD CONSTRAINT %2$I %s', rule.relation, rule.conname, rule.definition);
  END LOOP;
END $$;

-- Fails where a query that must find nothing found rows.
CREATE FUNCTION pg_temp.none(what text, rows_found bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF rows_found > 0 THEN RAISE EXCEPTION '%: %', what, rows_found; END IF;
END $$;

DO $$
BEGIN
  IF to_regclass('redemption.reserved') IS NULL THEN RETURN; END IF;
  PERFORM pg_temp.none('deducted without a call to the partner', (SELECT count(*) FROM redemption.redemption r
    WHERE deducted_at IS NOT NULL
      AND NOT EXISTS (SELECT FROM redemption.partner_call c WHERE c.redemption_id = r.id AND c.step = 'deduct')));
  PERFORM pg_temp.none('reverted at a partner without a call', (SELECT count(*) FROM redemption.redemption r
    WHERE partner_revert_id IS NOT NULL
      AND NOT EXISTS (SELECT FROM redemption.partner_call c WHERE c.redemption_id = r.id AND c.step = 'revert')));
  PERFORM pg_temp.none('redemptions that are not where their history ends', (SELECT count(*) FROM redemption.redemption r
    WHERE NOT EXISTS (SELECT FROM redemption.transition t
      WHERE t.redemption_id = r.id AND t.version = r.version AND t.to_state = r.state)));
  PERFORM pg_temp.none('tokens reserved for payouts, more or less than the open redemptions have', (SELECT count(*)
    FROM (SELECT coalesce(sum(token_amount), 0) AS open FROM redemption.redemption WHERE redemption.is_payable(state, resume)) o
    WHERE o.open <> redemption.reserved_tokens('payouts')));
END $$;

SELECT CASE WHEN to_regclass('redemption.redemption') IS NULL THEN 'SELECT ''no ledger''' ELSE $$
  SELECT 'redemptions: ' || count(*) || ', of them open: ' || count(*) FILTER (WHERE state NOT IN ('claimed', 'reverted', 'failed'))
    || ', in attention: ' || count(*) FILTER (WHERE state = 'attention') FROM redemption.redemption $$ END
\gexec
ROLLBACK;
