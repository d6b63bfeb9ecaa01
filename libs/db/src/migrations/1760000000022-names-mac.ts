import { type MigrationInterface, type QueryRunner } from 'typeorm';
import { withinVersionGuard } from './1760000000017-evidence-mac.js';

/**
 * A MAC over what a row calls its deduction: the partner's transaction and the candidates for it. It may be added within a version, by an
 * operator's command, as the MAC of the row.
 */
export class NamesMac1760000000022 implements MigrationInterface {
  readonly name = 'NamesMac1760000000022';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
ALTER TABLE redemption.redemption ADD COLUMN names_mac bytea CHECK (octet_length(names_mac) = 36);
COMMENT ON COLUMN redemption.redemption.names_mac IS 'the service wrote the names of the deduction: a MAC under EVIDENCE_KEY; no revert names another';
${withinVersionGuard('bare.evidence_mac := OLD.evidence_mac;\n  bare.names_mac := OLD.names_mac;')}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`${withinVersionGuard('bare.evidence_mac := OLD.evidence_mac;')}
ALTER TABLE redemption.redemption DROP COLUMN names_mac;`);
  }
}
