import { type MigrationInterface, type QueryRunner } from 'typeorm';

/**
 * The generation of the index: what was read of days that lie behind the head stays true as long as it is the same. It is
 * renewed by the database itself whenever something indexed may have been taken back, so that no program can forget it:
 * the row is made anew, the head goes back or is replaced, balance changes are removed, or another leader starts (its
 * database may have been restored from a backup). Random, so that no two databases, and no two lives of one, share one.
 */
export class IndexGeneration1760000000007 implements MigrationInterface {
  readonly name = 'IndexGeneration1760000000007';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(UP);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(DOWN);
  }
}

const UP = `
ALTER TABLE staking.index_state ADD COLUMN generation uuid NOT NULL DEFAULT gen_random_uuid();
COMMENT ON COLUMN staking.index_state.generation IS 'what is cached of the index is valid for one generation; set it to gen_random_uuid() after mending rows by hand';

COMMENT ON COLUMN staking.index_state.rollbacks IS 'grows with each rollback';

CREATE FUNCTION staking.renew_generation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.generation := gen_random_uuid();
  RETURN NEW;
END $$;

CREATE TRIGGER made BEFORE INSERT ON staking.index_state
  FOR EACH ROW EXECUTE FUNCTION staking.renew_generation();
CREATE TRIGGER taken_back BEFORE UPDATE ON staking.index_state
  FOR EACH ROW WHEN (NEW.fence <> OLD.fence OR NEW.head_number < OLD.head_number
    OR (NEW.head_number = OLD.head_number AND NEW.head_hash <> OLD.head_hash))
  EXECUTE FUNCTION staking.renew_generation();

CREATE FUNCTION staking.renew_generation_of_index() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE staking.index_state SET generation = gen_random_uuid();
  RETURN NULL;
END $$;

CREATE TRIGGER taken_back AFTER DELETE ON staking.balance_change
  FOR EACH STATEMENT EXECUTE FUNCTION staking.renew_generation_of_index();
CREATE TRIGGER emptied AFTER TRUNCATE ON staking.balance_change
  FOR EACH STATEMENT EXECUTE FUNCTION staking.renew_generation_of_index();
`;

const DOWN = `
COMMENT ON COLUMN staking.index_state.rollbacks IS 'grows with each rollback: the version of anything cached';
DROP TRIGGER emptied ON staking.balance_change;
DROP TRIGGER taken_back ON staking.balance_change;
DROP TRIGGER taken_back ON staking.index_state;
DROP TRIGGER made ON staking.index_state;
DROP FUNCTION staking.renew_generation_of_index();
DROP FUNCTION staking.renew_generation();
ALTER TABLE staking.index_state DROP COLUMN generation;
`;
