import { SqlMigration } from '../connection/schema-migration.js';

/** Partners and their credentials: the key as a hash, the secret sealed. */
export class Partners1760000000001 extends SqlMigration {
  readonly upStatements = [
    `
CREATE SCHEMA partners;

CREATE TABLE partners.partner (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  name text NOT NULL CHECK (name <> '' AND name = btrim(name)),
  rate int NOT NULL DEFAULT 20 CHECK (rate > 0),
  burst int NOT NULL DEFAULT 100 CHECK (burst > 0),
  created_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON COLUMN partners.partner.rate IS 'requests per second';
CREATE UNIQUE INDEX partner_name ON partners.partner (lower(name));

CREATE TABLE partners.credential (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  partner_id uuid NOT NULL REFERENCES partners.partner,
  key_hash bytea NOT NULL UNIQUE CHECK (octet_length(key_hash) = 32),
  key_prefix text NOT NULL CHECK (length(key_prefix) <= 12),
  secret_ciphertext bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  revoked_at timestamptz
);
COMMENT ON COLUMN partners.credential.key_hash IS 'SHA-256 of the API key';
CREATE INDEX credential_partner ON partners.credential (partner_id);
`,
  ];
  readonly downStatements = ['DROP SCHEMA partners CASCADE'];
}

/**
 * When a credential was last used. The role that only reads may note it through this function, and change nothing else: one
 * column, at most once a minute, and never waiting for another writer of the row.
 */
export class CredentialUse1760000000009 extends SqlMigration {
  readonly upStatements = [
    `
ALTER TABLE partners.credential ADD COLUMN last_used_at timestamptz;
COMMENT ON COLUMN partners.credential.last_used_at IS 'to the minute; null: not since this is noted';

CREATE FUNCTION partners.note_use(credential_id uuid) RETURNS void LANGUAGE sql SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp AS $$
  UPDATE partners.credential SET last_used_at = now() WHERE id = (
    SELECT id FROM partners.credential
    WHERE id = note_use.credential_id AND (last_used_at IS NULL OR last_used_at <= now() - interval '1 minute')
    FOR NO KEY UPDATE SKIP LOCKED)
$$;
REVOKE ALL ON FUNCTION partners.note_use FROM PUBLIC;
GRANT EXECUTE ON FUNCTION partners.note_use TO lowmark_reader;
`,
  ];
  readonly downStatements = [
    'DROP FUNCTION partners.note_use',
    'ALTER TABLE partners.credential DROP COLUMN last_used_at',
  ];
}

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
