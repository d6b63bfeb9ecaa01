/**
 * The role that only reads. Roles belong to the whole cluster, so another database may be creating the same one right now. What it may
 * read is in roles/rights.ts, as for the other programs; functions that it may execute are granted to it where they are made.
 */
export const READER_ROLE = `
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

/**
 * The record of the migrations, which TypeORM makes, and the stake sets besides the default one. See
 * docs/decisions/0009-a-schema-for-each-stake-set.md.
 */
export const LOWMARK = `
ALTER TABLE lowmark.migration ADD COLUMN older_may_start boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN lowmark.migration.older_may_start IS 'a program that does not know this migration may start all the same';

CREATE TABLE lowmark.stake_set (
  name text PRIMARY KEY CHECK (name ~ '^[a-z][a-z0-9]{0,30}$' AND name <> 'default'),
  migrations text[] NOT NULL, -- what was applied to its schema, oldest first
  created_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE lowmark.stake_set IS 'stake sets besides the default one, each in a schema stakes_NAME; made by migrate';

-- For triggers of all schemas. Its argument is what the error says.
CREATE FUNCTION lowmark.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '%', coalesce(TG_ARGV[0], format('rows of %s.%s are never changed or removed (%s)', TG_TABLE_SCHEMA, TG_TABLE_NAME, TG_OP))
    USING ERRCODE = 'integrity_constraint_violation';
END $$;
`;
