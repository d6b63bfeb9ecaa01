-- Run after a restore, before a program asks: what is cached of an index may be of after that moment. Each stake set has a schema.
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
