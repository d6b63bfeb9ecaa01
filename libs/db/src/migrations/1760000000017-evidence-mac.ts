import { type MigrationInterface, type QueryRunner } from 'typeorm';

/**
 * A MAC over what a voucher rests on, under a key that the database does not have. It may be added within a version: rows of before are
 * given theirs by an operator's command.
 */
export class EvidenceMac1760000000017 implements MigrationInterface {
  readonly name = 'EvidenceMac1760000000017';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
ALTER TABLE redemption.redemption ADD COLUMN evidence_mac bytea CHECK (octet_length(evidence_mac) = 36);
COMMENT ON COLUMN redemption.redemption.evidence_mac IS 'the service wrote this row: a MAC under EVIDENCE_KEY; nothing is paid without it';
${withinVersionGuard('bare.evidence_mac := OLD.evidence_mac;')}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`${withinVersionGuard('')}
ALTER TABLE redemption.redemption DROP COLUMN evidence_mac;`);
  }
}

/** @param exempt assignments to `bare`, of what may change within a version besides */
export function withinVersionGuard(exempt: string): string {
  return `
CREATE OR REPLACE FUNCTION redemption.guard_redemption_within_version() RETURNS trigger LANGUAGE plpgsql AS $$
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
  ${exempt}
  IF bare IS DISTINCT FROM OLD THEN
    PERFORM redemption.refuse(format('only the lease and the due time of redemption %s can change within version %s',
      OLD.id, OLD.version));
  END IF;
  RETURN NEW;
END $$;`;
}
