import { type MigrationInterface, type QueryRunner } from 'typeorm';

/**
 * When a credential was last used. The role that only reads may note it through this function, and change nothing else: one
 * column, at most once a minute, and never waiting for another writer of the row.
 */
export class CredentialUse1760000000009 implements MigrationInterface {
  readonly name = 'CredentialUse1760000000009';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
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
`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP FUNCTION partners.note_use');
    await runner.query('ALTER TABLE partners.credential DROP COLUMN last_used_at');
  }
}
