import { type QueryRunner } from 'typeorm';
import { type SchemaMigration } from '../connection/schema-migration.js';

/** Bounds what one stolen credential of a program can do to the ledger: by triggers, which hold for whatever connects. */
export class SealedLedger1760000000023 implements SchemaMigration {
  readonly name = 'SealedLedger1760000000023';
  /** Refused is only what no release writes. */
  readonly olderMayStart = true;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(UP);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(DOWN);
  }
}

const UP = `
-- Checked when it is noted and never again: a dump of any age can be restored. A clock may be ten minutes ahead of this server's, and
-- no voucher lives longer than 86400 s, the most that VOUCHER_TTL_SECONDS can be, with ten minutes for the clocks.
CREATE FUNCTION redemption.guard_ledger_restore() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.at > now() + interval '10 minutes' THEN
    PERFORM redemption.refuse('a restore is noted at most ten minutes ahead of the clock of the database');
  END IF;
  IF NEW.vouchers_until_seconds > extract(epoch FROM NEW.at) + 86400 + 601 THEN
    PERFORM redemption.refuse('no voucher of before a restore can be claimed later than a day after it');
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER guard_new BEFORE INSERT ON redemption.ledger_restore
  FOR EACH ROW EXECUTE FUNCTION redemption.guard_ledger_restore();

-- What was counted on a day stays counted, on that day.
CREATE FUNCTION redemption.guard_coin_spent() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.wei < OLD.wei OR (NEW.chain_id, NEW.account, NEW.day) IS DISTINCT FROM (OLD.chain_id, OLD.account, OLD.day) THEN
    PERFORM redemption.refuse(format('the coin that was spent on %s is never lowered', OLD.day));
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER guard BEFORE UPDATE ON redemption.coin_spent
  FOR EACH ROW EXECUTE FUNCTION redemption.guard_coin_spent();

CREATE TABLE redemption.task (task text PRIMARY KEY);
COMMENT ON TABLE redemption.task IS 'work of one process at a time: who does it has its row locked';
INSERT INTO redemption.task VALUES ('claim-watch'), ('reconciliation');
-- Whoever may lock a row may change it.
CREATE TRIGGER never_changed BEFORE UPDATE OR DELETE OR TRUNCATE ON redemption.task
  FOR EACH STATEMENT EXECUTE FUNCTION redemption.refuse_change();

-- Each change of what may still be paid is counted, also that of a redemption that stays in attention.
DROP TRIGGER count_reserved ON redemption.redemption;
CREATE TRIGGER count_reserved AFTER UPDATE ON redemption.redemption
  FOR EACH ROW WHEN (NEW.state <> OLD.state OR NEW.resume IS DISTINCT FROM OLD.resume)
  EXECUTE FUNCTION redemption.count_reserved();
-- Nothing is counted meanwhile: the trigger's lock is held on the table, this one on the sum.
SELECT FROM redemption.reserved WHERE subject = 'payouts' FOR UPDATE;
UPDATE redemption.reserved SET tokens =
    (SELECT coalesce(sum(token_amount), 0) FROM redemption.redemption WHERE redemption.is_payable(state, resume))
    + (SELECT coalesce(sum(tokens), 0) FROM redemption.released WHERE subject = 'payouts')
  WHERE subject = 'payouts';
`;

const DOWN = `
DROP TRIGGER count_reserved ON redemption.redemption;
CREATE TRIGGER count_reserved AFTER UPDATE ON redemption.redemption
  FOR EACH ROW WHEN (NEW.state <> OLD.state) EXECUTE FUNCTION redemption.count_reserved();
DROP TABLE redemption.task;
DROP TRIGGER guard ON redemption.coin_spent;
DROP FUNCTION redemption.guard_coin_spent();
DROP TRIGGER guard_new ON redemption.ledger_restore;
DROP FUNCTION redemption.guard_ledger_restore();
`;
