import { SqlMigration } from '../connection/schema-migration.js';

/** What an operator has said of a restored ledger, and of claims that no row explains. */
export class RestoredLedger1760000000011 extends SqlMigration {
  readonly upStatements = [ADD_RESTORED_LEDGER];
  readonly downStatements = [
    'DROP TABLE redemption.claim_acknowledgement',
    'DROP TABLE redemption.ledger_restore',
  ];
}

const ADD_RESTORED_LEDGER = `
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

/** What the service's accounts may have spent on gas in a day, counted across processes and restarts. */
export class CoinSpent1760000000013 extends SqlMigration {
  readonly olderMayStart = true;
  readonly upStatements = [ADD_COIN_SPENT];
  readonly downStatements = ['DROP TABLE redemption.coin_spent'];
}

const ADD_COIN_SPENT = `
CREATE TABLE redemption.coin_spent (
  chain_id bigint NOT NULL CHECK (chain_id > 0),
  account bytea NOT NULL CHECK (octet_length(account) = 20),
  day date NOT NULL,
  wei numeric(78, 0) NOT NULL CHECK (wei >= 0 AND wei < 'Infinity'),
  transactions int NOT NULL CHECK (transactions > 0),
  PRIMARY KEY (chain_id, account, day)
);
COMMENT ON TABLE redemption.coin_spent IS 'the most that the transactions signed on a UTC day can cost, in the smallest unit of the chain''s coin; written before they are signed';
`;

/** How far the claims of each vault were watched, and those that nothing authorised. */
export class ClaimWatch1760000000014 extends SqlMigration {
  readonly olderMayStart = true;
  readonly upStatements = [ADD_CLAIM_WATCH];
  readonly downStatements = [
    'DROP TABLE redemption.claim_alarm',
    'DROP TABLE redemption.claim_watch',
  ];
}

const ADD_CLAIM_WATCH = `
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
