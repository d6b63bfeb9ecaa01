import { SqlMigration } from '../connection/schema-migration.js';

/**
 * A task is held by a lease that its process renews, in place of a locked row: the transaction of a lock stayed open while the chain was
 * read, for hours at first, and vacuum removes nothing that is younger than the oldest transaction.
 */
export class TaskLease1760000007003 extends SqlMigration {
  /** An older service locks the row for itself. Two of one task do no harm. */
  readonly olderMayStart = true;
  readonly upStatements = [TASK_LEASE];
  readonly downStatements = [TASK_LOCK];
}

const TASK_LEASE = `
DROP TRIGGER never_changed ON redemption.task;
ALTER TABLE redemption.task ADD COLUMN holder uuid, ADD COLUMN held_until timestamptz,
  ADD CHECK (num_nonnulls(holder, held_until) IN (0, 2));
COMMENT ON TABLE redemption.task IS 'work of one process at a time: its holder renews the lease';
CREATE TRIGGER never_removed BEFORE DELETE OR TRUNCATE ON redemption.task
  FOR EACH STATEMENT EXECUTE FUNCTION redemption.refuse_change();
`;

const TASK_LOCK = `
DROP TRIGGER never_removed ON redemption.task;
ALTER TABLE redemption.task DROP COLUMN holder, DROP COLUMN held_until;
COMMENT ON TABLE redemption.task IS 'work of one process at a time: who does it has its row locked';
CREATE TRIGGER never_changed BEFORE UPDATE OR DELETE OR TRUNCATE ON redemption.task
  FOR EACH STATEMENT EXECUTE FUNCTION redemption.refuse_change();
`;
