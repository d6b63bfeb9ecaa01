import { type MigrationInterface, type QueryRunner } from 'typeorm';

/** How far the claims of each vault were watched, and those that nothing authorised. */
export class ClaimWatch1760000000014 implements MigrationInterface {
  readonly name = 'ClaimWatch1760000000014';
  readonly olderMayStart = true;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(UP);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE redemption.claim_alarm');
    await runner.query('DROP TABLE redemption.claim_watch');
  }
}

const UP = `
CREATE TABLE redemption.claim_watch (
  chain_id bigint NOT NULL,
  vault bytea NOT NULL,
  next_block bigint NOT NULL CHECK (next_block >= 0),
  looked_at timestamptz NOT NULL,
  PRIMARY KEY (chain_id, vault),
  FOREIGN KEY (chain_id, vault) REFERENCES redemption.reconciliation_checkpoint
);
COMMENT ON COLUMN redemption.claim_watch.next_block IS 'all final claims of older blocks were held against the redemptions, here or by the reconciliation';

CREATE TABLE redemption.claim_alarm (
  chain_id bigint NOT NULL,
  vault bytea NOT NULL,
  vault_id bytea NOT NULL CHECK (octet_length(vault_id) = 32),
  transaction_hash bytea NOT NULL CHECK (octet_length(transaction_hash) = 32),
  redemption_id uuid,
  block_number bigint NOT NULL CHECK (block_number >= 0),
  block_at timestamptz NOT NULL,
  recipient bytea NOT NULL CHECK (octet_length(recipient) = 20),
  amount numeric(78, 0) NOT NULL CHECK (amount >= 0 AND amount < 'Infinity'),
  kind text NOT NULL CHECK (kind IN ('without-row', 'unpayable', 'different')),
  state text,
  may_be_lost boolean NOT NULL,
  found_at timestamptz NOT NULL,
  paused_at timestamptz,
  PRIMARY KEY (chain_id, vault, vault_id, transaction_hash),
  FOREIGN KEY (chain_id, vault) REFERENCES redemption.reconciliation_checkpoint
);
COMMENT ON TABLE redemption.claim_alarm IS 'claims that nothing had authorised when they were found, some of them before they were final';
COMMENT ON COLUMN redemption.claim_alarm.may_be_lost IS 'of a time of which a restored ledger lacks the redemptions: told, and no reason to pause';
COMMENT ON COLUMN redemption.claim_alarm.paused_at IS 'when the vault was first seen paused after that; a claim asks for no second pause';
`;
