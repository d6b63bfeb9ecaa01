import { SqlMigration } from '../connection/schema-migration.js';

/**
 * When a redemption is looked at again is no fact about it, so it may change within a version: an open payout is looked at many times,
 * and only what is learnt becomes a transition.
 */
export class RedemptionDue1760000000004 extends SqlMigration {
  readonly upStatements = [ADD_REDEMPTION_DUE];
  readonly downStatements = [REMOVE_REDEMPTION_DUE];
}

const ADD_REDEMPTION_DUE = `
CREATE FUNCTION redemption.guard_redemption_within_version() RETURNS trigger LANGUAGE plpgsql AS $$
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
  IF bare IS DISTINCT FROM OLD THEN
    PERFORM redemption.refuse(format('only the lease and the due time of redemption %s can change within version %s',
      OLD.id, OLD.version));
  END IF;
  RETURN NEW;
END $$;
DROP TRIGGER guard ON redemption.redemption;
CREATE TRIGGER guard BEFORE UPDATE ON redemption.redemption
  FOR EACH ROW WHEN (NEW.version <> OLD.version) EXECUTE FUNCTION redemption.guard_redemption();
CREATE TRIGGER guard_within_version BEFORE UPDATE ON redemption.redemption
  FOR EACH ROW WHEN (NEW.version = OLD.version) EXECUTE FUNCTION redemption.guard_redemption_within_version();
`;

const REMOVE_REDEMPTION_DUE = `
DROP TRIGGER guard_within_version ON redemption.redemption;
DROP TRIGGER guard ON redemption.redemption;
CREATE TRIGGER guard BEFORE UPDATE ON redemption.redemption
  FOR EACH ROW EXECUTE FUNCTION redemption.guard_redemption();
DROP FUNCTION redemption.guard_redemption_within_version();
`;

/** Who is signed in to the redemption service. */
export class Sessions1760000000005 extends SqlMigration {
  readonly upStatements = [SESSION];
  readonly downStatements = ['DROP TABLE redemption.session'];
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

/** What the chain paid, beside what the redemptions say of it: the daily comparison of the two, and how far it has got. */
export class Reconciliation1760000000006 extends SqlMigration {
  readonly upStatements = [ADD_RECONCILIATION];
  readonly downStatements = [REMOVE_RECONCILIATION];
}

const ADD_RECONCILIATION = `
CREATE TABLE redemption.reconciliation_checkpoint (
  chain_id bigint NOT NULL CHECK (chain_id > 0),
  vault bytea NOT NULL CHECK (octet_length(vault) = 20),
  start_block bigint NOT NULL CHECK (start_block >= 0),
  block_number bigint CHECK (block_number >= start_block),
  block_hash bytea CHECK (octet_length(block_hash) = 32),
  block_at timestamptz,
  claims bigint NOT NULL DEFAULT 0 CHECK (claims >= 0),
  tokens numeric(90, 0) NOT NULL DEFAULT 0 CHECK (tokens >= 0 AND tokens < 'Infinity'),
  PRIMARY KEY (chain_id, vault),
  CHECK (num_nonnulls(block_number, block_hash, block_at) IN (0, 3)),
  CHECK (block_number IS NOT NULL OR claims = 0)
);
COMMENT ON TABLE redemption.reconciliation_checkpoint IS 'the final block up to which the claims of a vault were read, and their sums';

CREATE TABLE redemption.vault_claim (
  chain_id bigint NOT NULL,
  vault bytea NOT NULL,
  vault_id bytea NOT NULL CHECK (octet_length(vault_id) = 32),
  redemption_id uuid,
  transaction_hash bytea NOT NULL CHECK (octet_length(transaction_hash) = 32),
  block_number bigint NOT NULL CHECK (block_number >= 0),
  block_at timestamptz NOT NULL,
  recipient bytea NOT NULL CHECK (octet_length(recipient) = 20),
  amount numeric(78, 0) NOT NULL CHECK (amount >= 0 AND amount < 'Infinity'),
  seen_at timestamptz NOT NULL,
  settled boolean NOT NULL DEFAULT false,
  PRIMARY KEY (chain_id, vault, vault_id),
  FOREIGN KEY (chain_id, vault) REFERENCES redemption.reconciliation_checkpoint
) WITH (fillfactor = 90);
COMMENT ON TABLE redemption.vault_claim IS 'final claims as the chain has them, read without regard to our rows';
COMMENT ON COLUMN redemption.vault_claim.redemption_id IS 'null where the id in the vault was not made of a UUIDv7';
COMMENT ON COLUMN redemption.vault_claim.settled IS 'found to be the claim of a claimed row, which is final';
CREATE INDEX vault_claim_redemption ON redemption.vault_claim (redemption_id) WHERE redemption_id IS NOT NULL;
CREATE INDEX vault_claim_unsettled ON redemption.vault_claim (chain_id, vault, vault_id) WHERE NOT settled;

CREATE TABLE redemption.reconciliation_run (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL,
  figures jsonb NOT NULL,
  differences jsonb NOT NULL CHECK (jsonb_typeof(differences) = 'array')
);
COMMENT ON TABLE redemption.reconciliation_run IS 'runs that came to their end, with or without differences; amounts are strings';
CREATE INDEX reconciliation_run_at ON redemption.reconciliation_run (at);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON redemption.reconciliation_run
  FOR EACH STATEMENT EXECUTE FUNCTION redemption.refuse_change();
`;

const REMOVE_RECONCILIATION = `
DROP TABLE redemption.reconciliation_run;
DROP TABLE redemption.vault_claim;
DROP TABLE redemption.reconciliation_checkpoint;
`;

/** What operators page through and search for, without a look at rows that are not shown; see redemption-plans.int-spec.ts. */
export class SearchIndexes1760000000038 extends SqlMigration {
  readonly olderMayStart = true;
  readonly upStatements = [SEARCH_INDEXES];
  readonly downStatements = [
    'DROP INDEX redemption.redemption_undone, redemption.redemption_queue',
  ];
}

/** What was settled by hand stays in its state for good: without it the index is as small as what is open. */
const SEARCH_INDEXES = `
CREATE INDEX redemption_queue ON redemption.redemption ((state <> 'attention'), state_since_at, id)
  WHERE state NOT IN ('claimed', 'reverted', 'failed') AND (state <> 'attention' OR reason IS DISTINCT FROM 'settled-by-hand');
CREATE INDEX redemption_undone ON redemption.redemption (state, partner, id) WHERE state IN ('reverted', 'failed');
`;
