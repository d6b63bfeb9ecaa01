import { type QueryRunner } from 'typeorm';
import { type SchemaMigration } from '../connection/schema-migration.js';

/** A session counts only with a MAC under a key that the database does not have; those of before have none and end. */
export class SessionMac1760000000021 implements SchemaMigration {
  readonly name = 'SessionMac1760000000021';
  /** What an older program opens bears no MAC: it counts for itself and not for a newer one. */
  readonly olderMayStart = true;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
ALTER TABLE redemption.session ADD COLUMN domain text, ADD COLUMN mac bytea CHECK (octet_length(mac) = 36);
COMMENT ON COLUMN redemption.session.domain IS 'the page on which the wallet signed in, one of SIWE_DOMAINS then';
COMMENT ON COLUMN redemption.session.mac IS 'the service opened this session: a MAC under EVIDENCE_KEY over the token hash, wallet, domain and expiry';`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE redemption.session DROP COLUMN mac, DROP COLUMN domain');
  }
}
