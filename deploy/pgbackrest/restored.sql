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
  -- Nothing is paid, deducted or given back until `ledger restored` was run, unless the operator says that nothing is
  -- missing. A backup of an older version lacks the table; `migrate` completes it.
  IF to_regclass('redemption.redemption') IS NOT NULL
    AND coalesce(current_setting('lowmark.nothing_lost', true), '') <> 'on' THEN
    CREATE TABLE IF NOT EXISTS redemption.unnoted_restore (
      noticed text PRIMARY KEY CHECK (noticed <> ''),
      at timestamptz NOT NULL DEFAULT now(),
      missing_at timestamptz
    );
    INSERT INTO redemption.unnoted_restore (noticed) VALUES ('restored from a backup') ON CONFLICT DO NOTHING;
  END IF;
END $$;
