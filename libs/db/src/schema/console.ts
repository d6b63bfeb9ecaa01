/** Of the tables whose rows stand for an operator or for a partner's member. */
const ONE_KIND = `kind text NOT NULL CHECK (kind IN ('operator', 'partner')),
  role text CHECK (role IN ('viewer', 'operator', 'admin')),
  partner uuid,
  CHECK ((kind = 'operator') = (role IS NOT NULL)),
  CHECK ((kind = 'partner') = (partner IS NOT NULL))`;

/**
 * Who is signed in to the web pages, and the role that the newest sign-in of an operator gave, so that what an operator began counts only
 * while the operator has the role.
 */
export const CONSOLE = `
CREATE SCHEMA console;

-- One spelling for one person: who signs in with another spelling of the same wallet is no second operator.
CREATE DOMAIN console.subject AS text
  CHECK (length(VALUE) <= 512 AND VALUE ~ '^(wallet:0x[0-9a-f]{40}|oidc:[^|[:space:]]+[|][^[:space:]]+|link:[a-z0-9][a-z0-9-]*)$');
CREATE DOMAIN console.shown_name AS text CHECK (length(VALUE) BETWEEN 1 AND 255);
CREATE DOMAIN console.hash AS bytea CHECK (octet_length(VALUE) = 32);

CREATE TABLE console.session (
  token_hash console.hash PRIMARY KEY, -- SHA-256 of the token in the cookie, which is kept nowhere
  ${ONE_KIND},
  subject console.subject NOT NULL, -- how they signed in: wallet:0x…, oidc:ISSUER|SUB, link:NAME
  name console.shown_name NOT NULL,
  created_at timestamptz NOT NULL,
  seen_at timestamptz NOT NULL,
  authenticated_at timestamptz NOT NULL, -- the last fresh sign-in
  expires_at timestamptz NOT NULL,
  CHECK (expires_at > created_at)
);
CREATE INDEX session_expires ON console.session (expires_at);
CREATE INDEX session_subject ON console.session (subject);

CREATE TABLE console.nonce (
  nonce text PRIMARY KEY CHECK (length(nonce) BETWEEN 8 AND 255),
  expires_at timestamptz NOT NULL
);
COMMENT ON TABLE console.nonce IS 'Sign-In with Ethereum: handed out and not used yet';
CREATE INDEX nonce_expires ON console.nonce (expires_at);

CREATE TABLE console.login_attempt (
  state_hash console.hash PRIMARY KEY, -- SHA-256 of the state
  kind text NOT NULL CHECK (kind IN ('operator', 'partner')),
  code_verifier text NOT NULL CHECK (length(code_verifier) BETWEEN 43 AND 128),
  nonce text NOT NULL CHECK (length(nonce) BETWEEN 8 AND 255),
  return_to text NOT NULL CHECK (length(return_to) <= 2048 AND return_to ~ '^/($|[^/\\\\])'), -- a path of the pages
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  CHECK (expires_at > created_at AND expires_at <= created_at + interval '10 minutes')
);
COMMENT ON TABLE console.login_attempt IS 'OpenID Connect: what the second half of a sign-in needs of the first';
CREATE INDEX login_attempt_expires ON console.login_attempt (expires_at);

CREATE TABLE console.sign_in_link (
  token_hash console.hash PRIMARY KEY, -- SHA-256 of the token in the link, which is kept nowhere
  ${ONE_KIND},
  name text NOT NULL CHECK (length(name) <= 64 AND name ~ '^[a-z0-9][a-z0-9-]*$'), -- who signs in with it has the subject link:NAME
  created_by text NOT NULL CHECK (created_by <> ''),
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  used_at timestamptz,
  CHECK (expires_at > created_at),
  CHECK (used_at < expires_at)
);
CREATE INDEX sign_in_link_expires ON console.sign_in_link (expires_at);

CREATE TABLE console.granted_role (
  subject console.subject PRIMARY KEY,
  role text CHECK (role IN ('viewer', 'operator', 'admin')), -- null: no operator any more
  known_at timestamptz NOT NULL -- when the person signed in
);
COMMENT ON TABLE console.granted_role IS 'what the newest sign-in of an operator said of the role, where the settings do not say it';

-- Who may act for a partner, and what members have done of late, for limits that hold over all consoles.
CREATE TABLE console.invitation (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  token_hash console.hash NOT NULL UNIQUE,
  -- No foreign keys between schemas of different writers; partners are never deleted.
  partner uuid NOT NULL,
  invited_by text NOT NULL CHECK (invited_by <> ''),
  inviter console.subject, -- null: by a command
  note console.shown_name NOT NULL, -- an address, or whatever tells the operator whom it is for
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  accepted_at timestamptz,
  accepted_by console.subject,
  withdrawn_at timestamptz,
  CHECK (expires_at > created_at),
  CHECK (num_nonnulls(accepted_at, accepted_by) IN (0, 2)),
  CHECK (accepted_at < expires_at),
  CHECK (num_nonnulls(accepted_at, withdrawn_at) < 2)
);
CREATE INDEX invitation_partner ON console.invitation (partner, id);

CREATE TABLE console.member (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  partner uuid NOT NULL,
  subject console.subject NOT NULL,
  name console.shown_name NOT NULL,
  added_at timestamptz NOT NULL,
  removed_at timestamptz CHECK (removed_at >= added_at)
);
COMMENT ON TABLE console.member IS 'who may act for a partner on the web pages';
CREATE UNIQUE INDEX member_active ON console.member (partner, subject) WHERE removed_at IS NULL;
CREATE INDEX member_subject ON console.member (subject) WHERE removed_at IS NULL;

CREATE TABLE console.member_limit (
  key text PRIMARY KEY CHECK (length(key) BETWEEN 1 AND 700),
  full_at timestamptz NOT NULL -- when the bucket of the limit is full again; the row is of no use from then on
);
COMMENT ON TABLE console.member_limit IS 'limits on what members of partners do, each for a member or a partner';

-- What waits for a second operator.
CREATE TABLE console.approval (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  action text NOT NULL CHECK (action <> '' AND length(action) <= 100),
  arguments jsonb NOT NULL CHECK (jsonb_typeof(arguments) = 'object' AND octet_length(arguments::text) <= 16384), -- of the action; no secrets
  summary text NOT NULL CHECK (length(summary) BETWEEN 1 AND 4000), -- what it means, in the words that were shown to who asked for it
  requested_by console.subject NOT NULL,
  requested_name console.shown_name NOT NULL,
  requested_at timestamptz NOT NULL,
  reason text NOT NULL CHECK (length(reason) BETWEEN 1 AND 500), -- of who asked, for who decides
  expires_at timestamptz NOT NULL,
  expiry_noted boolean NOT NULL DEFAULT false, -- it expired, and the audit says so
  decision text CHECK (decision IN ('approved', 'refused', 'withdrawn')),
  decided_by console.subject,
  decided_name console.shown_name,
  decided_at timestamptz,
  outcome text CHECK (length(outcome) BETWEEN 1 AND 4000), -- what came of it; null after an approval: it was begun, and its end was never learnt
  CHECK (expires_at > requested_at),
  CHECK (num_nonnulls(decision, decided_by, decided_name, decided_at) IN (0, 4)),
  CHECK (decided_at < expires_at),
  -- Who asked for it can take it back, and nothing else.
  CONSTRAINT decided_by_another CHECK ((decision = 'withdrawn') = (decided_by = requested_by)),
  CONSTRAINT outcome_of_approved CHECK (outcome IS NULL OR coalesce(decision = 'approved', false))
);
COMMENT ON TABLE console.approval IS 'actions that wait for a second operator';
CREATE INDEX approval_open ON console.approval (expires_at) WHERE decision IS NULL;

CREATE FUNCTION console.guard_approval() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NEW.decision IS NOT NULL THEN
      RAISE EXCEPTION 'an approval is asked for before it is decided' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
  END IF;
  IF (NEW.id, NEW.action, NEW.arguments, NEW.summary, NEW.requested_by, NEW.requested_name, NEW.requested_at, NEW.expires_at, NEW.reason)
    IS DISTINCT FROM (OLD.id, OLD.action, OLD.arguments, OLD.summary, OLD.requested_by, OLD.requested_name, OLD.requested_at,
      OLD.expires_at, OLD.reason) THEN
    RAISE EXCEPTION 'what approval % is asked for is frozen', OLD.id USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  IF OLD.decision IS NOT NULL AND (NEW.decision, NEW.decided_by, NEW.decided_name, NEW.decided_at)
    IS DISTINCT FROM (OLD.decision, OLD.decided_by, OLD.decided_name, OLD.decided_at) THEN
    RAISE EXCEPTION 'approval % is decided', OLD.id USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  IF OLD.outcome IS NOT NULL AND NEW.outcome IS DISTINCT FROM OLD.outcome THEN
    RAISE EXCEPTION 'the outcome of approval % is known', OLD.id USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON console.approval
  FOR EACH ROW EXECUTE FUNCTION console.guard_approval();
CREATE TRIGGER never_removed BEFORE DELETE OR TRUNCATE ON console.approval
  FOR EACH STATEMENT EXECUTE FUNCTION lowmark.refuse_change('rows of console.approval are never removed');

-- Runs of the conformance tester, which any console shows; one console makes the run.
CREATE TABLE console.conformance_run (
  partner uuid PRIMARY KEY,
  id uuid NOT NULL UNIQUE,
  base_url text NOT NULL,
  address text NOT NULL CHECK (address ~ '^0x[0-9a-fA-F]{40}$'),
  started_at timestamptz NOT NULL,
  held_until timestamptz NOT NULL CHECK (held_until > started_at), -- until then a console makes the run; after that the run was lost with its console
  -- json, not jsonb: reports keep the order of their keys, and may have any character of a partner's answer.
  progress json NOT NULL,
  stop_requested boolean NOT NULL DEFAULT false,
  ended_at timestamptz,
  report json,
  failure text CHECK (length(failure) BETWEEN 1 AND 4000), -- why there is no report
  CHECK (num_nonnulls(report, failure) = num_nonnulls(ended_at))
);
COMMENT ON TABLE console.conformance_run IS 'the last run of each partner, for a day';
CREATE INDEX conformance_run_started ON console.conformance_run (started_at);

-- What a conformance run may have taken and not given back yet, so that the next console gives it back where one is killed.
CREATE TABLE console.conformance_deduction (
  redemption_id uuid PRIMARY KEY,
  run_id uuid NOT NULL,
  partner uuid NOT NULL,
  address text NOT NULL CHECK (address ~ '^0x[0-9a-fA-F]{40}$'), -- as it was sent: its case is part of a check
  points numeric NOT NULL,
  transaction_id text, -- the partner's; empty where its success named none, null where no success was seen
  attempts int NOT NULL DEFAULT 0 CHECK (attempts >= 0), -- of consoles that did not begin the run
  due_at timestamptz NOT NULL -- until then a console has it; after that any console gives it back
);
COMMENT ON TABLE console.conformance_deduction IS 'deductions of conformance runs: written before the call is sent, removed when the points are given back';
CREATE INDEX conformance_deduction_due ON console.conformance_deduction (due_at);
CREATE INDEX conformance_deduction_run ON console.conformance_deduction (run_id);
`;
