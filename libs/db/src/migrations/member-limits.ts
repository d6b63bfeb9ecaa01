import { SqlMigration } from '../connection/schema-migration.js';

/** What members of partners have done of late, for limits that hold over all consoles. */
export class MemberLimits1760000005001 extends SqlMigration {
  readonly olderMayStart = true;
  readonly upStatements = [LIMITS];
  readonly downStatements = ['DROP TABLE console.member_limit'];
}

const LIMITS = `
CREATE TABLE console.member_limit (
  key text PRIMARY KEY CHECK (length(key) BETWEEN 1 AND 700),
  full_at timestamptz NOT NULL
);
COMMENT ON TABLE console.member_limit IS 'limits on what members of partners do, each for a member or a partner';
COMMENT ON COLUMN console.member_limit.full_at IS 'when the bucket of the limit is full again; the row is of no use from then on';
`;
