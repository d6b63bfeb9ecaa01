import { SqlMigration } from '../connection/schema-migration.js';

/** What a conformance run may have taken and not given back yet, so that the next console gives it back where one is killed. */
export class ConformanceDeductions1760000000039 extends SqlMigration {
  readonly olderMayStart = true;
  readonly upStatements = [TABLE];
  readonly downStatements = ['DROP TABLE console.conformance_deduction'];
}

const TABLE = `
CREATE TABLE console.conformance_deduction (
  redemption_id uuid PRIMARY KEY,
  run_id uuid NOT NULL,
  partner uuid NOT NULL,
  address text NOT NULL CHECK (address ~ '^0x[0-9a-fA-F]{40}$'),
  points numeric NOT NULL,
  transaction_id text,
  attempts int NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  due_at timestamptz NOT NULL
);
COMMENT ON TABLE console.conformance_deduction IS 'deductions of conformance runs: written before the call is sent, removed when the points are given back';
COMMENT ON COLUMN console.conformance_deduction.address IS 'as it was sent: its case is part of a check';
COMMENT ON COLUMN console.conformance_deduction.transaction_id IS 'the partner''s; empty where its success named none, null where no success was seen';
COMMENT ON COLUMN console.conformance_deduction.attempts IS 'of consoles that did not begin the run';
COMMENT ON COLUMN console.conformance_deduction.due_at IS 'until then a console has it; after that any console gives it back';
CREATE INDEX conformance_deduction_due ON console.conformance_deduction (due_at);
CREATE INDEX conformance_deduction_run ON console.conformance_deduction (run_id);
`;
