import { SqlMigration } from '../connection/schema-migration.js';

/**
 * A MAC over what a voucher rests on, under a key that the database does not have. It may be added within a version: rows of before are
 * given theirs by an operator's command.
 */
export class EvidenceMac1760000000017 extends SqlMigration {
  readonly upStatements = [
    `
ALTER TABLE redemption.redemption ADD COLUMN evidence_mac bytea CHECK (octet_length(evidence_mac) = 36);
COMMENT ON COLUMN redemption.redemption.evidence_mac IS 'the service wrote this row: a MAC under EVIDENCE_KEY; nothing is paid without it';
${withinVersionGuard('bare.evidence_mac := OLD.evidence_mac;')}`,
  ];
  readonly downStatements = [
    `${withinVersionGuard('')}
ALTER TABLE redemption.redemption DROP COLUMN evidence_mac;`,
  ];
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

/** A session counts only with a MAC under a key that the database does not have; those of before have none and end. */
export class SessionMac1760000000021 extends SqlMigration {
  /** What an older program opens bears no MAC: it counts for itself and not for a newer one. */
  readonly olderMayStart = true;
  readonly upStatements = [
    `
ALTER TABLE redemption.session ADD COLUMN domain text, ADD COLUMN mac bytea CHECK (octet_length(mac) = 36);
COMMENT ON COLUMN redemption.session.domain IS 'the page on which the wallet signed in, one of SIWE_DOMAINS then';
COMMENT ON COLUMN redemption.session.mac IS 'the service opened this session: a MAC under EVIDENCE_KEY over the token hash, wallet, domain and expiry';`,
  ];
  readonly downStatements = ['ALTER TABLE redemption.session DROP COLUMN mac, DROP COLUMN domain'];
}

/**
 * A MAC over what a row calls its deduction: the partner's transaction and the candidates for it. It may be added within a version, by an
 * operator's command, as the MAC of the row.
 */
export class NamesMac1760000000022 extends SqlMigration {
  readonly upStatements = [
    `
ALTER TABLE redemption.redemption ADD COLUMN names_mac bytea CHECK (octet_length(names_mac) = 36);
COMMENT ON COLUMN redemption.redemption.names_mac IS 'the service wrote the names of the deduction: a MAC under EVIDENCE_KEY; no revert names another';
${withinVersionGuard('bare.evidence_mac := OLD.evidence_mac;\n  bare.names_mac := OLD.names_mac;')}`,
  ];
  readonly downStatements = [
    `${withinVersionGuard('bare.evidence_mac := OLD.evidence_mac;')}
ALTER TABLE redemption.redemption DROP COLUMN names_mac;`,
  ];
}
