import { type QueryRunner } from 'typeorm';
import { type SchemaMigration } from '../connection/schema-migration.js';
import { withinVersionGuard } from './1760000000017-evidence-mac.js';

/**
 * What a restore may have lost of a redemption is a column of its row. The note of a restore writes it, by a trigger, so that no program,
 * not even one of before, can note a restore without it; and no program can write anything else into it.
 */
export class RestoreMark1760000000024 implements SchemaMigration {
  readonly name = 'RestoreMark1760000000024';
  readonly olderMayStart = true;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(UP);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(DOWN);
  }
}

const MACS = 'bare.evidence_mac := OLD.evidence_mac;\n  bare.names_mac := OLD.names_mac;';

const UP = `
ALTER TABLE redemption.redemption ADD COLUMN lost_voucher_until_seconds bigint;
COMMENT ON COLUMN redemption.redemption.lost_voucher_until_seconds IS
  'Unix seconds: the ledger was restored, and a voucher that it lacks can be claimed until then; null where nothing was lost';
${withinVersionGuard(`${MACS}\n  bare.lost_voucher_until_seconds := OLD.lost_voucher_until_seconds;`)}

-- A redemption that was planned before the loss has no other voucher than that of its plan.
CREATE FUNCTION redemption.lost_voucher_until(r redemption.redemption) RETURNS bigint LANGUAGE sql STABLE
RETURN (SELECT max(l.vouchers_until_seconds) FROM redemption.ledger_restore l
  WHERE r.initial_at < l.at AND (r.authorised_at IS NULL OR r.authorised_at >= l.lost_since));

-- A final row has lost nothing that could still happen, and never changes.
CREATE FUNCTION redemption.mark_restored() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  LOCK TABLE redemption.redemption IN EXCLUSIVE MODE;
  UPDATE redemption.redemption r SET lost_voucher_until_seconds = redemption.lost_voucher_until(r)
    WHERE r.state NOT IN ('claimed', 'reverted', 'failed')
      AND r.lost_voucher_until_seconds IS DISTINCT FROM redemption.lost_voucher_until(r);
  RETURN NULL;
END $$;
CREATE TRIGGER mark AFTER INSERT ON redemption.ledger_restore
  FOR EACH STATEMENT EXECUTE FUNCTION redemption.mark_restored();

-- Also a redemption that is made after the note by a clock that is behind it.
CREATE FUNCTION redemption.mark_new() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.lost_voucher_until_seconds := redemption.lost_voucher_until(NEW);
  RETURN NEW;
END $$;
CREATE TRIGGER mark_new BEFORE INSERT ON redemption.redemption
  FOR EACH ROW EXECUTE FUNCTION redemption.mark_new();

CREATE FUNCTION redemption.guard_mark() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.lost_voucher_until_seconds IS DISTINCT FROM redemption.lost_voucher_until(OLD) THEN
    PERFORM redemption.refuse(format('what a restore has lost of redemption %s is for its note to say', NEW.id));
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER guard_mark BEFORE UPDATE ON redemption.redemption
  FOR EACH ROW WHEN (NEW.lost_voucher_until_seconds IS DISTINCT FROM OLD.lost_voucher_until_seconds)
  EXECUTE FUNCTION redemption.guard_mark();

UPDATE redemption.redemption r SET lost_voucher_until_seconds = redemption.lost_voucher_until(r)
  WHERE r.state NOT IN ('claimed', 'reverted', 'failed') AND redemption.lost_voucher_until(r) IS NOT NULL;
`;

const DOWN = `
DROP TRIGGER mark ON redemption.ledger_restore;
DROP FUNCTION redemption.mark_restored();
DROP TRIGGER mark_new ON redemption.redemption;
DROP FUNCTION redemption.mark_new();
DROP TRIGGER guard_mark ON redemption.redemption;
DROP FUNCTION redemption.guard_mark();
DROP FUNCTION redemption.lost_voucher_until(redemption.redemption);
${withinVersionGuard(MACS)}
ALTER TABLE redemption.redemption DROP COLUMN lost_voucher_until_seconds;
`;
