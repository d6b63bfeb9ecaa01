import { SqlMigration } from '../connection/schema-migration.js';

/** What the index says of itself, beside what the contract says of it: an audit compares its sums without any node. */
export class AuditSums1760000007900 extends SqlMigration {
  /** An older indexer audits without these sums. */
  readonly olderMayStart = true;
  readonly upStatements = [ADD];
  readonly downStatements = [REMOVE];
}

// audit_run_check3 is the name that PostgreSQL gave to the check that is replaced.
const ADD = `
ALTER TABLE staking.audit_run
  ADD stored_total numeric(90, 0) CHECK (stored_total >= 0 AND stored_total < 'Infinity'),
  ADD closings_total numeric(90, 0) CHECK (closings_total >= 0 AND closings_total < 'Infinity'),
  ADD balances_total numeric(90, 0) CHECK (balances_total >= 0 AND balances_total < 'Infinity'),
  DROP CONSTRAINT audit_run_check3,
  ADD CONSTRAINT sums_are_whole CHECK (num_nonnulls(stored_total, closings_total, balances_total) = 0
    OR (result <> 'impossible' AND num_nonnulls(stored_total, closings_total, balances_total) = 3)),
  ADD CONSTRAINT result_follows CHECK (result = 'impossible' OR (result = 'ok')
    = (differences = 0 AND (contract_total IS NULL OR contract_total = indexed_total)
      AND (stored_total IS NULL OR (closings_total = stored_total AND balances_total = stored_total))));
COMMENT ON COLUMN staking.audit_run.stored_total IS 'the total of the index at its head; null in a run of an older version, as the two sums';
COMMENT ON COLUMN staking.audit_run.closings_total IS 'the sum of the newest closings of all wallets';
COMMENT ON COLUMN staking.audit_run.balances_total IS 'the sum of the newest balances of all wallets';
`;

const REMOVE = `
DELETE FROM staking.audit_run WHERE result = 'different' AND differences = 0
  AND (contract_total IS NULL OR contract_total = indexed_total);
ALTER TABLE staking.audit_run
  DROP CONSTRAINT result_follows, DROP CONSTRAINT sums_are_whole,
  DROP stored_total, DROP closings_total, DROP balances_total,
  ADD CONSTRAINT audit_run_check3 CHECK (result = 'impossible' OR (result = 'ok')
    = (differences = 0 AND (contract_total IS NULL OR contract_total = indexed_total)));
`;
