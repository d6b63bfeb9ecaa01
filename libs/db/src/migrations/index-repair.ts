import { SqlMigration } from '../connection/schema-migration.js';

/**
 * What is known to be wrong in the index, and the way to repair it. The guards of balance changes let a transaction pass that says that it
 * repairs rows (`SET LOCAL lowmark.repair = 'on'`); see index-store/repair-store.ts.
 */
export class IndexRepair1760000007011 extends SqlMigration {
  /** An older program does not know findings, and works as before. */
  readonly olderMayStart = true;
  readonly upStatements = [
    TABLES,
    guards(`WHEN (current_setting('lowmark.repair', true) IS DISTINCT FROM 'on')`),
  ];
  readonly downStatements = ['DROP TABLE staking.finding, staking.doubtful_day', guards('')];
}

const TABLES = `
CREATE TABLE staking.finding (
  wallet bytea PRIMARY KEY CHECK (octet_length(wallet) IN (0, 20)),
  found_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  found_by text NOT NULL CHECK (found_by <> '')
);
COMMENT ON TABLE staking.finding IS 'what a check found to be wrong, until it is repaired: the api does not answer about it';
COMMENT ON COLUMN staking.finding.wallet IS 'empty: a sum differs, so that any wallet may be wrong';

CREATE TABLE staking.doubtful_day (day int PRIMARY KEY);
COMMENT ON TABLE staking.doubtful_day IS 'sealed days whose rows were repaired, until they are worked out again: the api does not answer about them';
`;

/** On the parent, and on its partitions, for statements that name one. */
function guards(when: string): string {
  return `
DO $do$
DECLARE
  part regclass;
BEGIN
  FOR part IN SELECT 'staking.balance_change'::regclass
      UNION ALL SELECT inhrelid FROM pg_inherits WHERE inhparent = 'staking.balance_change'::regclass LOOP
    EXECUTE format('DROP TRIGGER added ON %1$s; DROP TRIGGER removed ON %1$s', part);
    EXECUTE format($f$
CREATE TRIGGER added AFTER INSERT ON %1$s
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT ${when} EXECUTE FUNCTION staking.guard_added_changes();
CREATE TRIGGER removed AFTER DELETE ON %1$s
  REFERENCING OLD TABLE AS removed FOR EACH STATEMENT ${when} EXECUTE FUNCTION staking.guard_removed_changes()$f$, part);
  END LOOP;
END $do$;
`;
}
