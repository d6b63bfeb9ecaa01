import { type MigrationInterface, type QueryRunner } from 'typeorm';

/** What came of holding the index against the contract's own figures, as the indexer does it each night. */
export class AuditRun1760000000010 implements MigrationInterface {
  readonly name = 'AuditRun1760000000010';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(UP);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE staking.audit_run');
  }
}

const UP = `
CREATE TABLE staking.audit_run (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  started_at timestamptz NOT NULL,
  finished_at timestamptz NOT NULL,
  result text NOT NULL CHECK (result IN ('ok', 'different', 'impossible')),
  reason text,
  block_number bigint CHECK (block_number >= 0),
  block_hash bytea CHECK (octet_length(block_hash) = 32),
  wallets bigint CHECK (wallets >= 0),
  compared bigint CHECK (compared >= 0),
  differences bigint CHECK (differences >= 0),
  different jsonb CHECK (jsonb_typeof(different) = 'array'),
  indexed_total numeric(90, 0) CHECK (indexed_total >= 0 AND indexed_total < 'Infinity'),
  contract_total numeric(90, 0) CHECK (contract_total >= 0 AND contract_total < 'Infinity'),
  CHECK ((reason IS NOT NULL) = (result = 'impossible')),
  CHECK (num_nonnulls(block_number, block_hash, wallets, differences, different, indexed_total)
    = CASE result WHEN 'impossible' THEN 0 ELSE 6 END),
  CHECK (result <> 'impossible' OR num_nonnulls(compared, contract_total) = 0),
  CHECK (result = 'impossible' OR (result = 'ok')
    = (differences = 0 AND (contract_total IS NULL OR contract_total = indexed_total)))
);
COMMENT ON TABLE staking.audit_run IS 'comparisons of the index with the contract by the indexer, of the last year; totals in the smallest unit of the token';
COMMENT ON COLUMN staking.audit_run.result IS 'impossible: nothing is known about the balances, and reason says why';
COMMENT ON COLUMN staking.audit_run.compared IS 'wallets held against the contract; null where it tells no balances';
COMMENT ON COLUMN staking.audit_run.differences IS 'wallets that differ';
COMMENT ON COLUMN staking.audit_run.different IS 'the first of them, with both figures as strings; the next run looks at them again';
COMMENT ON COLUMN staking.audit_run.contract_total IS 'null where the contract tells no total';
CREATE INDEX audit_run_finished_at ON staking.audit_run (finished_at);
`;
