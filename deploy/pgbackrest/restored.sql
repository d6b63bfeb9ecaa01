-- Run by the owner after a restore, before a program starts. Safe to run twice, and before `migrate`.
DO $$
DECLARE
  index_schema name;
  rights text;
BEGIN
  -- A new generation invalidates cached answers, which may be newer than the restored index. Each stake set has its
  -- schema.
  FOR index_schema IN
    SELECT table_schema FROM information_schema.columns WHERE table_name = 'index_state' AND column_name = 'generation'
  LOOP
    EXECUTE format('UPDATE %I.index_state SET generation = gen_random_uuid()', index_schema);
  END LOOP;
  IF coalesce(current_setting('lowmark.nothing_lost', true), '') = 'on' THEN
    RETURN;
  END IF;
  -- Sessions that have ended, links and invitations that were used, and roles that were withdrawn since the backup would
  -- be valid again: all sign in again, and who was not a member is invited again. Older versions lack some of the tables.
  FOREACH rights IN ARRAY ARRAY['console.session', 'console.sign_in_link', 'console.login_attempt', 'console.nonce',
    'console.granted_role', 'redemption.session', 'redemption.nonce']
  LOOP
    IF to_regclass(rights) IS NOT NULL THEN
      EXECUTE 'DELETE FROM ' || rights;
    END IF;
  END LOOP;
  IF to_regclass('console.invitation') IS NOT NULL THEN
    UPDATE console.invitation SET withdrawn_at = now() WHERE accepted_at IS NULL AND withdrawn_at IS NULL;
  END IF;
  -- Nothing is paid, deducted or given back until `ledger restored` was run. A backup of an older version lacks the
  -- table; `migrate` completes it.
  IF to_regclass('redemption.redemption') IS NOT NULL THEN
    CREATE TABLE IF NOT EXISTS redemption.unnoted_restore (
      noticed text PRIMARY KEY CHECK (noticed <> ''),
      at timestamptz NOT NULL DEFAULT now(),
      missing_at timestamptz
    );
    INSERT INTO redemption.unnoted_restore (noticed) VALUES ('restored from a backup') ON CONFLICT DO NOTHING;
  END IF;
END $$;
