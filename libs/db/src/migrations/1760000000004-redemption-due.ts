import { type MigrationInterface, type QueryRunner } from 'typeorm';

/**
 * When a redemption is looked at again is no fact about it, so it may change within a version: an open payout is looked at many times,
 * and only what is learnt becomes a transition.
 */
export class RedemptionDue1760000000004 implements MigrationInterface {
  readonly name = 'RedemptionDue1760000000004';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(UP);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(DOWN);
  }
}

const UP = `
CREATE FUNCTION redemption.guard_redemption_within_version() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  bare redemption.redemption;
BEGIN
  -- I10.
  IF OLD.state IN ('claimed', 'reverted', 'failed') THEN
    PERFORM redemption.refuse(format('redemption %s is %s, which is final', OLD.id, OLD.state));
  END IF;
  bare := NEW;
  bare.leased_until := OLD.leased_until;
  bare.lease_owner := OLD.lease_owner;
  bare.next_action_at := OLD.next_action_at;
  IF bare IS DISTINCT FROM OLD THEN
    PERFORM redemption.refuse(format('only the lease and the due time of redemption %s can change within version %s',
      OLD.id, OLD.version));
  END IF;
  RETURN NEW;
END $$;
DROP TRIGGER guard ON redemption.redemption;
CREATE TRIGGER guard BEFORE UPDATE ON redemption.redemption
  FOR EACH ROW WHEN (NEW.version <> OLD.version) EXECUTE FUNCTION redemption.guard_redemption();
CREATE TRIGGER guard_within_version BEFORE UPDATE ON redemption.redemption
  FOR EACH ROW WHEN (NEW.version = OLD.version) EXECUTE FUNCTION redemption.guard_redemption_within_version();
`;

const DOWN = `
DROP TRIGGER guard_within_version ON redemption.redemption;
DROP TRIGGER guard ON redemption.redemption;
CREATE TRIGGER guard BEFORE UPDATE ON redemption.redemption
  FOR EACH ROW EXECUTE FUNCTION redemption.guard_redemption();
DROP FUNCTION redemption.guard_redemption_within_version();
`;
