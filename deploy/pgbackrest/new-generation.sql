-- Run after a restore, before a program starts: a new generation invalidates cached answers, which may be newer than the
-- restored index. Each stake set has its schema.
DO $$
DECLARE
  index_schema name;
BEGIN
  FOR index_schema IN
    SELECT table_schema FROM information_schema.columns WHERE table_name = 'index_state' AND column_name = 'generation'
  LOOP
    EXECUTE format('UPDATE %I.index_state SET generation = gen_random_uuid()', index_schema);
  END LOOP;
END $$;
