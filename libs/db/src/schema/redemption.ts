/**
 * Redemptions, and how partners are called. What a row may hold is in the CHECKs, what may become of it in the triggers of
 * redemption-guards.ts: the state machine of libs/domain decides, and the database refuses what that must never do.
 */
export const REDEMPTION = `
CREATE SCHEMA redemption;

CREATE TABLE redemption.redemption (
  id uuid PRIMARY KEY CHECK (substr(id::text, 15, 1) = '7'),
  -- No foreign keys between schemas of different writers; partners are never deleted.
  partner uuid NOT NULL,
  wallet bytea NOT NULL CHECK (octet_length(wallet) = 20),
  points bigint NOT NULL CHECK (points BETWEEN 1 AND 9007199254740991),
  usd_amount numeric NOT NULL CHECK (usd_amount > 0 AND usd_amount < 'Infinity'),
  token_amount numeric(78, 0) NOT NULL CHECK (token_amount > 0 AND token_amount < 'Infinity'), -- in the smallest unit of the token
  token_decimals int NOT NULL CHECK (token_decimals BETWEEN 0 AND 255),
  price_usd numeric NOT NULL CHECK (price_usd > 0 AND price_usd < 'Infinity'),
  quote_expires_at timestamptz NOT NULL,
  initial_at timestamptz NOT NULL,

  state text NOT NULL CHECK (state IN ('created', 'deducting', 'deducted', 'authorised', 'reverting', 'claimed', 'reverted',
    'failed', 'attention')),
  version int NOT NULL CHECK (version > 0),
  reason text,
  revert_reason text,
  resume text CHECK (resume IN ('authorised', 'reverting')),
  exposure text NOT NULL CHECK (exposure IN ('none', 'possible')),
  unproven_attempts int NOT NULL CHECK (unproven_attempts >= 0),
  open_call jsonb,
  partner_transaction_id text CHECK (length(partner_transaction_id) BETWEEN 1 AND 255),
  partner_revert_id text CHECK (length(partner_revert_id) BETWEEN 1 AND 255),
  candidate_transaction_ids text[] NOT NULL,
  redemption_id_refuted boolean NOT NULL,
  plan_recipient bytea,
  plan_amount numeric(78, 0),
  plan_deadline_seconds bigint,
  plan_vault bytea CHECK (octet_length(plan_vault) = 20),
  plan_chain_id bigint CHECK (plan_chain_id > 0),
  plan_from_block bigint CHECK (plan_from_block >= 0), -- where the search for the payout's events begins: final before the voucher was signed
  dead_evidence jsonb,
  paid_evidence jsonb,
  deduct_attempts int NOT NULL CHECK (deduct_attempts >= 0),
  payout_attempts int NOT NULL CHECK (payout_attempts >= 0),
  revert_attempts int NOT NULL CHECK (revert_attempts >= 0),
  first_deduct_at timestamptz,
  last_deduct_at timestamptz,
  first_revert_at timestamptz,
  first_not_found_at timestamptz,
  next_action_at timestamptz,
  state_since_at timestamptz NOT NULL,
  pending_at timestamptz,
  deducted_at timestamptz,
  authorised_at timestamptz,
  claimed_at timestamptz,
  reverted_at timestamptz,
  failed_at timestamptz,

  evidence_mac bytea CHECK (octet_length(evidence_mac) = 36), -- the service wrote this row: a MAC under EVIDENCE_KEY; nothing is paid without it
  -- The service wrote the names of the deduction: a MAC under EVIDENCE_KEY; no revert names another.
  names_mac bytea CHECK (octet_length(names_mac) = 36),
  -- Unix seconds: the ledger was restored, and a voucher that it lacks can be claimed until then; null where nothing was lost.
  lost_voucher_until_seconds bigint,

  leased_until timestamptz,
  lease_owner text CHECK (lease_owner <> ''),

  CONSTRAINT claimed_xor_reverted CHECK (num_nonnulls(claimed_at, reverted_at) < 2),
  CONSTRAINT claimed_at_in_its_state CHECK ((state = 'claimed') = (claimed_at IS NOT NULL)),
  CONSTRAINT reverted_at_in_its_state CHECK ((state = 'reverted') = (reverted_at IS NOT NULL)),
  CONSTRAINT failed_at_in_its_state CHECK ((state = 'failed') = (failed_at IS NOT NULL)),
  CONSTRAINT resume_in_attention CHECK ((state = 'attention') = (resume IS NOT NULL)),
  -- I7: the automation has a next step exactly where it is not finished or stopped.
  CONSTRAINT has_next_step CHECK ((state IN ('claimed', 'reverted', 'failed', 'attention')) = (next_action_at IS NULL)),
  CONSTRAINT pending_once_begun CHECK (state IN ('created', 'failed') OR pending_at IS NOT NULL),
  CONSTRAINT exposed_while_unproven CHECK (exposure = 'possible' OR unproven_attempts = 0),
  CONSTRAINT open_call_in_its_state CHECK (open_call IS NULL
    OR (state = 'deducting' AND open_call ->> 'step' IS NOT DISTINCT FROM 'deduct')
    OR (state = 'reverting' AND open_call ->> 'step' IS NOT DISTINCT FROM 'revert')),
  CONSTRAINT whole_plan CHECK (num_nonnulls(plan_recipient, plan_amount, plan_deadline_seconds, plan_vault, plan_chain_id,
    plan_from_block, authorised_at) IN (0, 7)),
  CONSTRAINT plan_of_this_redemption CHECK (plan_amount IS NULL OR (plan_amount = token_amount AND plan_recipient = wallet)),
  -- I5: nothing is authorised without a deduction that the partner confirmed.
  CONSTRAINT deducted_before_paying CHECK (plan_amount IS NULL OR (partner_transaction_id IS NOT NULL AND deducted_at IS NOT NULL)),
  CONSTRAINT deducted_in_its_state CHECK (state NOT IN ('deducted', 'authorised', 'claimed')
    OR (partner_transaction_id IS NOT NULL AND deducted_at IS NOT NULL)),
  CONSTRAINT plan_in_its_state CHECK (CASE WHEN state IN ('authorised', 'claimed') THEN plan_amount IS NOT NULL
    WHEN state IN ('created', 'deducting', 'deducted', 'failed') THEN plan_amount IS NULL ELSE true END),
  -- I2, I1 and rule F.
  CONSTRAINT claimed_by_evidence CHECK (CASE WHEN state = 'claimed' THEN paid_evidence IS NOT NULL AND dead_evidence IS NULL
    ELSE paid_evidence IS NULL OR state = 'attention' END),
  CONSTRAINT restored_by_evidence CHECK (state NOT IN ('reverting', 'reverted') OR plan_amount IS NULL OR dead_evidence IS NOT NULL),
  CONSTRAINT evidence_of_its_kind CHECK (coalesce(paid_evidence ->> 'outcome', '') = CASE WHEN paid_evidence IS NULL THEN '' ELSE 'paid' END
    AND coalesce(dead_evidence ->> 'outcome', '') = CASE WHEN dead_evidence IS NULL THEN '' ELSE 'dead' END),
  CONSTRAINT dead_only_where_authorised CHECK (dead_evidence IS NULL OR plan_amount IS NOT NULL),
  -- I4.
  CONSTRAINT failed_without_deduction CHECK (state <> 'failed' OR (partner_transaction_id IS NULL AND unproven_attempts = 0)),
  CONSTRAINT whole_lease CHECK (num_nonnulls(leased_until, lease_owner) IN (0, 2)),
  CONSTRAINT leased_while_due CHECK (lease_owner IS NULL OR next_action_at IS NOT NULL)
) WITH (fillfactor = 75);

-- I11.
CREATE UNIQUE INDEX redemption_transaction_id ON redemption.redemption (partner, partner_transaction_id);
CREATE UNIQUE INDEX redemption_revert_id ON redemption.redemption (partner, partner_revert_id);
CREATE UNIQUE INDEX redemption_open ON redemption.redemption (wallet, partner) WHERE state NOT IN ('claimed', 'reverted', 'failed');
CREATE INDEX redemption_due ON redemption.redemption (next_action_at) WHERE next_action_at IS NOT NULL;
CREATE INDEX redemption_state ON redemption.redemption (state, state_since_at) WHERE state NOT IN ('claimed', 'reverted', 'failed');
CREATE INDEX redemption_wallet ON redemption.redemption (wallet, id);
-- What counts against the budget of a day.
CREATE INDEX redemption_wallet_day ON redemption.redemption (wallet, initial_at) INCLUDE (token_amount)
  WHERE state NOT IN ('reverted', 'failed');
CREATE INDEX redemption_never_begun ON redemption.redemption (failed_at) WHERE state = 'failed' AND pending_at IS NULL;
-- What operators page through and search for, without a look at rows that are not shown. What was settled by hand stays in its state
-- for good: without it the index is as small as what is open.
CREATE INDEX redemption_queue ON redemption.redemption ((state <> 'attention'), state_since_at, id)
  WHERE state NOT IN ('claimed', 'reverted', 'failed') AND (state <> 'attention' OR reason IS DISTINCT FROM 'settled-by-hand');
CREATE INDEX redemption_undone ON redemption.redemption (state, partner, id) WHERE state IN ('reverted', 'failed');
-- Of one partner, newest first.
CREATE INDEX redemption_partner ON redemption.redemption (partner, id);

CREATE TABLE redemption.transition (
  redemption_id uuid NOT NULL REFERENCES redemption.redemption,
  version int NOT NULL,
  event text NOT NULL CHECK (event <> ''),
  from_state text,
  to_state text NOT NULL,
  reason text,
  actor text NOT NULL CHECK (actor <> ''),
  request_id uuid, -- X-API-REQUEST of the call that it begins or answers
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (redemption_id, version)
);

CREATE TABLE redemption.partner_call (
  request_id uuid PRIMARY KEY CHECK (substr(request_id::text, 15, 1) = '7'),
  redemption_id uuid REFERENCES redemption.redemption,
  partner uuid NOT NULL,
  step text NOT NULL CHECK (step IN ('balance', 'deduct', 'revert', 'confirm')),
  begun_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  ended_at timestamptz,
  outcome text CHECK (outcome <> ''),
  record jsonb CHECK (octet_length(record::text) <= 32768),
  CHECK (step = 'balance' OR redemption_id IS NOT NULL),
  CHECK (num_nonnulls(ended_at, outcome, record) IN (0, 3))
);
COMMENT ON TABLE redemption.partner_call IS 'committed before the first byte; without an end the outcome was never learnt';
CREATE INDEX partner_call_redemption ON redemption.partner_call (redemption_id) WHERE redemption_id IS NOT NULL;
CREATE INDEX partner_call_balance ON redemption.partner_call (begun_at) WHERE redemption_id IS NULL;
-- A call's id is a UUID of version 7, and so in the order of time.
CREATE INDEX partner_call_partner ON redemption.partner_call (partner, request_id);
CREATE INDEX partner_call_without_answer ON redemption.partner_call (partner, request_id) WHERE outcome <> 'answer';

CREATE TABLE redemption.confirmation (
  redemption_id uuid PRIMARY KEY REFERENCES redemption.redemption,
  partner uuid NOT NULL,
  payload text NOT NULL CHECK (payload::jsonb ->> 'status' IN ('claimed', 'reverted')), -- canonical JSON: the bytes that are sent and signed
  state text NOT NULL CHECK (state IN ('pending', 'delivered', 'undelivered')),
  version int NOT NULL CHECK (version > 0),
  attempts int NOT NULL CHECK (attempts >= 0),
  first_attempt_at timestamptz,
  open_request_id uuid,
  next_action_at timestamptz,
  delivered_at timestamptz,
  undelivered_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  leased_until timestamptz,
  lease_owner text CHECK (lease_owner <> ''),
  CHECK ((state = 'pending') = (next_action_at IS NOT NULL)),
  CHECK ((state = 'undelivered') = (undelivered_at IS NOT NULL)),
  CHECK (state <> 'delivered' OR delivered_at IS NOT NULL),
  CHECK (state = 'pending' OR open_request_id IS NULL),
  CHECK (num_nonnulls(leased_until, lease_owner) IN (0, 2)),
  CHECK (lease_owner IS NULL OR next_action_at IS NOT NULL)
) WITH (fillfactor = 75);
CREATE INDEX confirmation_due ON redemption.confirmation (next_action_at) WHERE next_action_at IS NOT NULL;
CREATE INDEX confirmation_undelivered ON redemption.confirmation (undelivered_at) WHERE undelivered_at IS NOT NULL;
CREATE INDEX confirmation_partner ON redemption.confirmation (partner, redemption_id);

CREATE TABLE redemption.idempotency_key (
  wallet bytea NOT NULL CHECK (octet_length(wallet) = 20),
  key text NOT NULL CHECK (length(key) BETWEEN 1 AND 255),
  body_hash bytea NOT NULL CHECK (octet_length(body_hash) = 32),
  redemption_id uuid NOT NULL UNIQUE REFERENCES redemption.redemption,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (wallet, key)
);

CREATE TABLE redemption.audit (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  actor text NOT NULL CHECK (actor <> ''),
  command text NOT NULL CHECK (command <> ''),
  redemption_id uuid,
  partner uuid,
  arguments jsonb NOT NULL DEFAULT '{}',
  outcome text NOT NULL CHECK (outcome <> '')
);
CREATE INDEX audit_redemption ON redemption.audit (redemption_id) WHERE redemption_id IS NOT NULL;
CREATE INDEX audit_partner ON redemption.audit (partner, id) WHERE partner IS NOT NULL;
CREATE INDEX audit_actor ON redemption.audit (actor, id);

CREATE TABLE redemption.vain_attempt (
  wallet bytea PRIMARY KEY CHECK (octet_length(wallet) = 20),
  attempts int NOT NULL CHECK (attempts > 0),
  wait_until timestamptz NOT NULL
);
COMMENT ON TABLE redemption.vain_attempt IS 'wallets whose redemptions came to nothing, for points that they do not have say';
CREATE INDEX vain_attempt_wait ON redemption.vain_attempt (wait_until);

-- Who is signed in to the redemption service. A session counts only with a MAC under a key that the database does not have.
CREATE TABLE redemption.nonce (
  nonce text PRIMARY KEY CHECK (length(nonce) BETWEEN 8 AND 255),
  expires_at timestamptz NOT NULL
);
COMMENT ON TABLE redemption.nonce IS 'Sign-In with Ethereum: handed out and not used yet';
CREATE INDEX nonce_expires ON redemption.nonce (expires_at);

CREATE TABLE redemption.session (
  token_hash bytea PRIMARY KEY CHECK (octet_length(token_hash) = 32), -- SHA-256 of the bearer token, which is kept nowhere
  wallet bytea NOT NULL CHECK (octet_length(wallet) = 20),
  domain text NOT NULL, -- the page on which the wallet signed in, one of SIWE_DOMAINS then
  expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- The service opened this session: a MAC under EVIDENCE_KEY over the token hash, wallet, domain and expiry.
  mac bytea NOT NULL CHECK (octet_length(mac) = 36)
);
CREATE INDEX session_expires ON redemption.session (expires_at);
`;
