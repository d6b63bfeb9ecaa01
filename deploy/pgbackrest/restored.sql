-- Run by the owner after a restore, before a program starts. Safe to run twice, and before `migrate`.
DO $$
DECLARE
  index_schema name;
BEGIN
  -- A new generation invalidates cached answers, which may be newer than the restored index. Each stake set has its
  -- schema.
  FOR index_schema IN
    SELECT table_schema FROM information_schema.columns WHERE table_name = 'index_state' AND column_name = 'generation'
  LOOP
    EXECUTE format('UPDATE %I.index_state SET generation = gen_random_uuid()', index_schema);
  END LOOP;
  IF coalesce(current_setting('lowmark.nothing_lost', true), '') = 'on' OR to_regclass('redemption.redemption') IS NULL THEN
    RETURN;
  END IF;
  -- Sessions that have ended, links and invitations that were used, and roles that were withdrawn since the backup would
  -- be valid again: all sign in again, and who was not a member is invited again.
  DELETE FROM console.session;
  DELETE FROM console.sign_in_link;
  DELETE FROM console.login_attempt;
  DELETE FROM console.nonce;
  DELETE FROM console.granted_role;
  DELETE FROM redemption.session;
  DELETE FROM redemption.nonce;
  UPDATE console.invitation SET withdrawn_at = now() WHERE accepted_at IS NULL AND withdrawn_at IS NULL;
  -- Nothing is paid, deducted or given back until `ledger restored` was run.
  INSERT INTO redemption.unnoted_restore (noticed) VALUES ('restored from a backup') ON CONFLICT DO NOTHING;
END $$;
