/**
 * The two large tables are partitioned by time. An index that is not large keeps the one partition that it begins with: further
 * ones are added by `next_partition`, which the indexer calls. Programs name the parents alone and have no right on a partition.
 * See docs/decisions/0016-partitions-by-time.md.
 */
export const NEXT_PARTITION = `
-- The same triggers on another table, for statements that name that one.
CREATE FUNCTION staking.copy_triggers(source regclass, target regclass) RETURNS void LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  definition text;
BEGIN
  FOR definition IN SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = source AND NOT tgisinternal ORDER BY tgname LOOP
    EXECUTE replace(definition, format(' ON %s ', source), format(' ON %s ', target));
  END LOOP;
END $$;

-- Whatever anyone else may do with a table, or may by default.
CREATE FUNCTION staking.revoke_rights(target regclass) RETURNS void LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  grantee text;
BEGIN
  FOR grantee IN SELECT DISTINCT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END
      FROM pg_class c, aclexplode(c.relacl) a WHERE c.oid = target AND a.grantee <> c.relowner LOOP
    EXECUTE format('REVOKE ALL ON %s FROM %s', target, grantee);
  END LOOP;
END $$;

REVOKE ALL ON FUNCTION staking.copy_triggers, staking.revoke_rights FROM PUBLIC;

SELECT staking.copy_triggers('staking.balance_change', 'staking.balance_change_1');

CREATE FUNCTION staking.partition_bytes() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT 268435456::bigint';
COMMENT ON FUNCTION staking.partition_bytes() IS 'where the rows of the newest partition take so much, without indexes, the next one is added: it ends some blocks or days later, at about half as much again';

-- One step on the way to the next partition, each in a transaction of its own; any of them may be the last one of a program that ends.
-- none: the newest one is small. bounded: it has a check that ends it at a block or day that the index comes to later; validated: its rows
-- were read, which keeps nothing waiting; added: it has that bound, and the next one begins there, empty. A table in use ends a step
-- (lock_not_available) after a moment, in which those who read it have to wait. fenced: another one leads. refused: there are rows that no
-- program can have written.
CREATE FUNCTION staking.next_partition(of_table text, of_fence bigint) RETURNS text LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp SET lock_timeout = '30s' AS $$
DECLARE
  -- Those who wait for a table wait so long behind one who waits to change it.
  brief CONSTANT text := '200ms';
  key CONSTANT text := CASE of_table WHEN 'balance_change' THEN 'block' WHEN 'balance_day' THEN 'day' END;
  type CONSTANT text := CASE key WHEN 'block' THEN 'bigint' ELSE 'int' END;
  parent CONSTANT regclass := CASE WHEN key IS NOT NULL THEN format('staking.%I', of_table) END;
  newest record;
  head bigint;
  oldest bigint;
  next text;
BEGIN
  IF NOT has_table_privilege(session_user, 'staking.balance_change', 'INSERT') THEN
    RAISE EXCEPTION 'only who writes the index may add a partition' USING ERRCODE = 'insufficient_privilege';
  END IF;
  IF key IS NULL THEN
    RAISE EXCEPTION '% has no partitions', of_table USING ERRCODE = 'invalid_parameter_value';
  END IF;
  SELECT c.oid::regclass AS part, pg_relation_size(c.oid) AS bytes, c.reloptions AS options,
      substring(b.bounds FROM 'FROM [(]''?(-?[0-9]+)')::bigint AS first,
      k.oid IS NOT NULL AS is_bounded, k.convalidated AS is_valid, substring(pg_get_constraintdef(k.oid) FROM '< ''?(-?[0-9]+)')::bigint AS bound
    INTO STRICT newest
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid CROSS JOIN LATERAL pg_get_expr(c.relpartbound, c.oid) AS b (bounds)
    LEFT JOIN pg_constraint k ON k.conrelid = c.oid AND k.conname = 'below_next'
    WHERE i.inhparent = parent AND b.bounds LIKE '%TO (MAXVALUE)';
  IF NOT newest.is_bounded AND newest.bytes < staking.partition_bytes() THEN
    RETURN 'none';
  END IF;

  IF NOT EXISTS (SELECT FROM staking.index_state WHERE fence = of_fence) THEN
    RETURN 'fenced';
  END IF;
  IF newest.is_bounded AND NOT newest.is_valid THEN
    BEGIN
      EXECUTE format('ALTER TABLE %s VALIDATE CONSTRAINT below_next', newest.part);
      RETURN 'validated';
    EXCEPTION WHEN check_violation THEN
      PERFORM set_config('lock_timeout', brief, true);
      EXECUTE format('ALTER TABLE %s DROP CONSTRAINT below_next', newest.part);
      RETURN 'refused';
    END;
  END IF;

  -- From here on nothing is written, and for as long as a transaction of the indexer is under way this waits.
  SELECT CASE key WHEN 'block' THEN greatest(head_number, written_number) ELSE greatest(head_seconds, written_seconds) / 86400 END
    INTO head FROM staking.index_state WHERE fence = of_fence FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN 'fenced';
  END IF;
  PERFORM set_config('lock_timeout', brief, true);

  IF NOT newest.is_bounded THEN
    -- As far ahead as its rows will have grown by half of what a partition has; of a very large one by as much as is written while it is read.
    EXECUTE format('SELECT min(%I) FROM %s WHERE ctid < ''(64,0)''', key, newest.part) INTO oldest;
    EXECUTE format('ALTER TABLE %s ADD CONSTRAINT below_next CHECK (%s%I < %L::%s) NOT VALID', newest.part,
      CASE WHEN newest.first IS NOT NULL THEN format('%I >= %L::%s AND ', key, newest.first, type) END, key,
      head + 1 + ceil(greatest(0, head - coalesce(oldest, newest.first, head))
        * greatest(staking.partition_bytes() / 2, newest.bytes / 32)::numeric / newest.bytes)::bigint, type);
    RETURN 'bounded';
  END IF;

  SELECT format('staking.%I', of_table || '_' || max(substring(relname FROM '[0-9]+$')::int) + 1) INTO next
    FROM pg_class WHERE relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = parent) AND relkind = 'r'
      AND relname ~ format('^%s_[0-9]{1,6}$', of_table);
  EXECUTE format('CREATE TABLE %s (LIKE %s INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING INDEXES)%s', next, parent,
    ' WITH (' || array_to_string(newest.options, ', ') || ')');
  PERFORM staking.copy_triggers(parent, next::regclass), staking.revoke_rights(next::regclass);
  EXECUTE format('LOCK TABLE ONLY %s, ONLY %s IN ACCESS EXCLUSIVE MODE', parent, newest.part);
  EXECUTE format('ALTER TABLE %s DETACH PARTITION %s', parent, newest.part);
  -- Known by the check, so that no row is read.
  EXECUTE format('ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (%s) TO (%s)', parent, newest.part,
    coalesce(newest.first::text, 'MINVALUE'), newest.bound);
  EXECUTE format('ALTER TABLE %s DROP CONSTRAINT below_next', newest.part);
  EXECUTE format('ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (%s) TO (MAXVALUE)', parent, next, newest.bound);
  RETURN 'added';
END $$;
`;
