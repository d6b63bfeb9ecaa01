import { SqlMigration } from '../connection/schema-migration.js';

/**
 * A credential that is replaced may be good for a while beside the new one. An api of before does not know the end: with it such a
 * credential is good until it is revoked.
 */
export class CredentialEnd1760000000032 extends SqlMigration {
  readonly olderMayStart = true;
  readonly upStatements = [
    `
ALTER TABLE partners.credential ADD COLUMN ends_at timestamptz;
COMMENT ON COLUMN partners.credential.ends_at IS 'it was replaced, and is good until then; null: until it is revoked';
CREATE OR REPLACE VIEW portal.credential WITH (security_barrier) AS
  SELECT id, key_prefix, created_at, last_used_at, revoked_at, ends_at FROM partners.credential
  WHERE partner_id = nullif(current_setting('lowmark.partner', true), '')::uuid;
`,
  ];
  readonly downStatements = [
    'DROP VIEW portal.credential',
    'ALTER TABLE partners.credential DROP COLUMN ends_at',
    `
CREATE VIEW portal.credential WITH (security_barrier) AS
  SELECT id, key_prefix, created_at, last_used_at, revoked_at FROM partners.credential
  WHERE partner_id = nullif(current_setting('lowmark.partner', true), '')::uuid;
`,
  ];
}
