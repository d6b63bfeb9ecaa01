import { SqlMigration } from '../connection/schema-migration.js';

/**
 * The role that only reads. Roles belong to the whole cluster, so another database may be creating the same one right now.
 * The role stays when the migration is undone: another database may use it.
 */
export class ReaderRole1760000000002 extends SqlMigration {
  readonly upStatements = [ROLE, RIGHTS];
  readonly downStatements = ['DROP OWNED BY lowmark_reader'];
}

const ROLE = `
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'lowmark_reader') THEN
    CREATE ROLE lowmark_reader NOLOGIN;
  END IF;
EXCEPTION
  WHEN duplicate_object OR unique_violation THEN
    NULL; -- another database of the cluster was faster
  WHEN insufficient_privilege THEN
    RAISE EXCEPTION 'this user may not create the role lowmark_reader: let an administrator run CREATE ROLE lowmark_reader NOLOGIN and GRANT lowmark_reader TO %', current_user
      USING ERRCODE = 'insufficient_privilege';
END $$;
-- Whoever migrates may also be who reads: its sessions must be able to take the role. Since PostgreSQL 16 a role's creator may
-- grant it, yet not take it.
DO $$
DECLARE
  before text := current_setting('role');
BEGIN
  PERFORM set_config('role', 'lowmark_reader', true);
  PERFORM set_config('role', before, true);
EXCEPTION WHEN insufficient_privilege THEN
  BEGIN
    EXECUTE format('GRANT lowmark_reader TO %I', current_user);
  EXCEPTION
    WHEN unique_violation OR internal_error THEN
      NULL; -- granted by another session at this moment
    WHEN insufficient_privilege THEN
      RAISE EXCEPTION 'this user may not use the role lowmark_reader: let an administrator run GRANT lowmark_reader TO %', current_user
        USING ERRCODE = 'insufficient_privilege';
  END;
END $$;
`;

const RIGHTS = `
GRANT USAGE ON SCHEMA staking, partners TO lowmark_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA staking, partners TO lowmark_reader;
ALTER DEFAULT PRIVILEGES IN SCHEMA staking GRANT SELECT ON TABLES TO lowmark_reader;
ALTER DEFAULT PRIVILEGES IN SCHEMA partners GRANT SELECT ON TABLES TO lowmark_reader;
`;

/** Lets the role that only reads see which migrations there are, so that a reader too refuses a database newer than itself. */
export class ReaderSeesSchema1760000000008 extends SqlMigration {
  readonly upStatements = [
    'GRANT USAGE ON SCHEMA lowmark TO lowmark_reader',
    'GRANT SELECT ON lowmark.migration TO lowmark_reader',
  ];
  readonly downStatements = [
    'REVOKE SELECT ON lowmark.migration FROM lowmark_reader',
    'REVOKE USAGE ON SCHEMA lowmark FROM lowmark_reader',
  ];
}

/**
 * Lets an operator who goes back to an older program say of a migration that this program may start on it; see `letOlderStart`.
 */
export class OlderStart1760000000012 extends SqlMigration {
  readonly upStatements = [
    'ALTER TABLE lowmark.migration ADD COLUMN older_may_start boolean NOT NULL DEFAULT false',
    `COMMENT ON COLUMN lowmark.migration.older_may_start IS 'a program that does not know this migration may start all the same'`,
  ];
  readonly downStatements = ['ALTER TABLE lowmark.migration DROP COLUMN older_may_start'];
}
