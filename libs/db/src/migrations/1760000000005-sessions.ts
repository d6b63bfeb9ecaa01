import { type MigrationInterface, type QueryRunner } from 'typeorm';

/** Who is signed in to the redemption service. */
export class Sessions1760000000005 implements MigrationInterface {
  readonly name = 'Sessions1760000000005';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(SESSION);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE redemption.session');
  }
}

const SESSION = `
CREATE TABLE redemption.session (
  token_hash bytea PRIMARY KEY CHECK (octet_length(token_hash) = 32),
  wallet bytea NOT NULL CHECK (octet_length(wallet) = 20),
  expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON COLUMN redemption.session.token_hash IS 'SHA-256 of the bearer token, which is kept nowhere';
CREATE INDEX session_expires ON redemption.session (expires_at);
`;
