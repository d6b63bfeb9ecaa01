import { type MigrationInterface, type QueryRunner } from 'typeorm';

/** What an operator has said of a restored ledger, and of claims that no row explains. */
export class RestoredLedger1760000000011 implements MigrationInterface {
  readonly name = 'RestoredLedger1760000000011';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(UP);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE redemption.claim_acknowledgement');
    await runner.query('DROP TABLE redemption.ledger_restore');
  }
}

const UP = `
CREATE TABLE redemption.ledger_restore (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL,
  lost_since timestamptz NOT NULL CHECK (lost_since <= at),
  vouchers_until_seconds bigint NOT NULL CHECK (vouchers_until_seconds > extract(epoch FROM at)),
  actor text NOT NULL CHECK (actor <> '')
);
COMMENT ON TABLE redemption.ledger_restore IS 'restores from a backup: what was made before one of them may have been paid without the rows knowing';
COMMENT ON COLUMN redemption.ledger_restore.vouchers_until_seconds IS 'Unix seconds: no voucher that was lost can be claimed later';
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON redemption.ledger_restore
  FOR EACH STATEMENT EXECUTE FUNCTION redemption.refuse_change();

CREATE TABLE redemption.claim_acknowledgement (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL,
  chain_id bigint NOT NULL,
  vault bytea NOT NULL CHECK (octet_length(vault) = 20),
  vault_id bytea NOT NULL CHECK (octet_length(vault_id) = 32),
  transaction_hash bytea NOT NULL CHECK (octet_length(transaction_hash) = 32),
  kind text NOT NULL CHECK (kind IN ('without-row', 'unpayable', 'different')),
  state text,
  actor text NOT NULL CHECK (actor <> ''),
  note text NOT NULL CHECK (length(note) BETWEEN 1 AND 255)
);
COMMENT ON TABLE redemption.claim_acknowledgement IS 'good for that claim, found to be of that kind beside a row of that state, and for nothing else';
CREATE INDEX claim_acknowledgement_claim ON redemption.claim_acknowledgement (chain_id, vault, vault_id);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON redemption.claim_acknowledgement
  FOR EACH STATEMENT EXECUTE FUNCTION redemption.refuse_change();
`;
