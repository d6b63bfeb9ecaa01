import { SqlMigration } from '../connection/schema-migration.js';

/**
 * Webhooks: who is told of what, the events with their attempts, and where the evaluation of sealed days and tiers stands. An event is
 * written in the transaction of what it tells. See docs/decisions/0014-webhooks.md.
 */
export class Webhooks1760000000040 extends SqlMigration {
  /** An older program sends none; the events of redemptions are noted by a trigger, and wait. */
  readonly olderMayStart = true;
  readonly upStatements = [TABLES, QUEUE, REDEMPTIONS, VIEWS];
  readonly downStatements = [
    'DROP TRIGGER tell_subscribers ON redemption.redemption',
    'DROP VIEW portal.webhook_subscription, portal.webhook_event, portal.webhook_attempt',
    'DROP SCHEMA webhooks CASCADE',
  ];
}

const TABLES = `
CREATE SCHEMA webhooks;

CREATE TABLE webhooks.subscription (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  -- No foreign keys between schemas of different writers; partners are never deleted.
  partner uuid NOT NULL,
  url text NOT NULL CHECK (length(url) BETWEEN 1 AND 2000),
  topics text[] NOT NULL CHECK (cardinality(topics) > 0
    AND topics <@ ARRAY['day.sealed', 'wallet.tier-changed', 'redemption.*']),
  stake_set text NOT NULL,
  measure text CHECK (measure IN ('low', 'average', 'balance')),
  days int CHECK (CASE WHEN measure = 'average' THEN days BETWEEN 2 AND 30 ELSE days = 1 END),
  thresholds numeric(78, 0)[] CHECK (cardinality(thresholds) BETWEEN 1 AND 20 AND thresholds[1] > 0),
  hysteresis numeric(78, 0) CHECK (hysteresis >= 0 AND hysteresis < thresholds[1]),
  failures int NOT NULL DEFAULT 0 CHECK (failures >= 0),
  paused_at timestamptz,
  paused_because text CHECK (paused_because IN ('partner', 'operator', 'gone')),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  rotated_at timestamptz,
  removed_at timestamptz,
  CHECK (num_nonnulls(measure, days, thresholds, hysteresis)
    = CASE WHEN 'wallet.tier-changed' = ANY (topics) THEN 4 ELSE 0 END),
  CHECK (num_nonnulls(paused_at, paused_because) IN (0, 2))
);
COMMENT ON TABLE webhooks.subscription IS 'where a partner wants to be told of what';
COMMENT ON COLUMN webhooks.subscription.stake_set IS 'whose sealed days and tiers are told';
COMMENT ON COLUMN webhooks.subscription.thresholds IS 'where the tiers begin, ascending, in the smallest unit of the token';
COMMENT ON COLUMN webhooks.subscription.hysteresis IS 'a wallet leaves a tier when it has so much less than its threshold';
COMMENT ON COLUMN webhooks.subscription.failures IS 'attempts in a row that failed; counted up to a few';
COMMENT ON COLUMN webhooks.subscription.paused_because IS 'gone: its address answered 410';
COMMENT ON COLUMN webhooks.subscription.removed_at IS 'its rows are removed in pieces after that';
CREATE INDEX subscription_partner ON webhooks.subscription (partner) WHERE removed_at IS NULL;

CREATE TABLE webhooks.secret (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  subscription uuid NOT NULL,
  ciphertext bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  ends_at timestamptz
);
COMMENT ON TABLE webhooks.secret IS 'what events are signed with, sealed under SECRETS_KEY; several are good while one replaces another';
COMMENT ON COLUMN webhooks.secret.ends_at IS 'it was replaced, and signs until then';
CREATE INDEX secret_subscription ON webhooks.secret (subscription);

CREATE SEQUENCE webhooks.event_sequence AS bigint;
-- No foreign keys: each row would lock that of its subscription.
CREATE TABLE webhooks.event (
  sequence bigint PRIMARY KEY DEFAULT 0,
  id uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
  subscription uuid NOT NULL,
  type text NOT NULL CHECK (type <> ''),
  order_key text NOT NULL,
  payload text NOT NULL CHECK (octet_length(payload) BETWEEN 2 AND 20480),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'delivered', 'given-up')),
  waiting_since timestamptz NOT NULL DEFAULT clock_timestamp(),
  attempts int NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  finished_at timestamptz,
  CHECK ((finished_at IS NULL) = (state = 'waiting'))
);
COMMENT ON TABLE webhooks.event IS 'the outbox: written with what it tells, sent until it is delivered or given up';
COMMENT ON COLUMN webhooks.event.sequence IS 'of one lane in the order of the transactions: set by the trigger, under the lock of the lane';
COMMENT ON COLUMN webhooks.event.id IS 'webhook-id is msg_ and its hex digits; the same at each attempt';
COMMENT ON COLUMN webhooks.event.order_key IS 'events with the same one are sent one after the other; the wallet, or empty';
COMMENT ON COLUMN webhooks.event.payload IS 'JSON, the bytes that are sent and signed';
COMMENT ON COLUMN webhooks.event.waiting_since IS 'when it was made, or replayed';
COMMENT ON COLUMN webhooks.event.attempts IS 'since then';
CREATE INDEX event_waiting ON webhooks.event (subscription, order_key, sequence) WHERE state = 'waiting';
CREATE INDEX event_since ON webhooks.event (created_at) WHERE state = 'waiting';
CREATE INDEX event_log ON webhooks.event (subscription, sequence);
CREATE INDEX event_finished ON webhooks.event (finished_at) WHERE state <> 'waiting';

CREATE TABLE webhooks.lane (
  subscription uuid NOT NULL,
  order_key text NOT NULL,
  waiting int NOT NULL CHECK (waiting >= 0),
  next_attempt_at timestamptz NOT NULL,
  leased_until timestamptz,
  lease_owner uuid,
  PRIMARY KEY (subscription, order_key),
  CHECK (num_nonnulls(leased_until, lease_owner) IN (0, 2))
);
COMMENT ON TABLE webhooks.lane IS 'the events of one subscription with one order key: who has its lease sends the oldest one';
COMMENT ON COLUMN webhooks.lane.waiting IS 'how many of them wait';
CREATE INDEX lane_due ON webhooks.lane (subscription, next_attempt_at) WHERE waiting > 0;
CREATE INDEX lane_leased ON webhooks.lane (subscription) WHERE leased_until IS NOT NULL;

CREATE TABLE webhooks.attempt (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  event bigint NOT NULL,
  at timestamptz NOT NULL,
  outcome text NOT NULL CHECK (outcome IN ('delivered', 'failed', 'gone')),
  status int CHECK (status BETWEEN 100 AND 999),
  error text CHECK (length(error) <= 300),
  duration_ms int NOT NULL CHECK (duration_ms >= 0),
  request jsonb NOT NULL,
  answer jsonb NOT NULL CHECK (octet_length(answer::text) <= 32768)
);
COMMENT ON TABLE webhooks.attempt IS 'each attempt at an event, with what was sent and answered';
COMMENT ON COLUMN webhooks.attempt.request IS 'its headers';
COMMENT ON COLUMN webhooks.attempt.answer IS 'its headers, and the beginning of its body';
CREATE INDEX attempt_event ON webhooks.attempt (event, id);

CREATE TABLE webhooks.told_day (
  stake_set text NOT NULL,
  day int NOT NULL,
  revision int NOT NULL,
  PRIMARY KEY (stake_set, day, revision)
);
COMMENT ON TABLE webhooks.told_day IS 'sealed days whose events were written';

CREATE TABLE webhooks.tier_cursor (
  subscription uuid PRIMARY KEY,
  version int NOT NULL DEFAULT 1,
  point bigint,
  pass text CHECK (pass IN ('first', 'changed', 'again')),
  pass_point bigint,
  pass_after bytea,
  recheck boolean NOT NULL DEFAULT false,
  CHECK (num_nonnulls(pass, pass_point, pass_after) IN (0, 3))
);
COMMENT ON TABLE webhooks.tier_cursor IS 'how far the tiers of a subscription were worked out';
COMMENT ON COLUMN webhooks.tier_cursor.version IS 'of the rule: tiers of another version count no more';
COMMENT ON COLUMN webhooks.tier_cursor.point IS 'the day, or the block of the measure balance, up to which they are known';
COMMENT ON COLUMN webhooks.tier_cursor.pass IS 'under way: first of a rule, which tells nothing; those that changed; or all again';
COMMENT ON COLUMN webhooks.tier_cursor.pass_after IS 'the last wallet of it';
COMMENT ON COLUMN webhooks.tier_cursor.recheck IS 'a sealed day came out differently: all have to be looked at again';

CREATE TABLE webhooks.wallet_tier (
  subscription uuid NOT NULL,
  version int NOT NULL,
  wallet bytea NOT NULL CHECK (octet_length(wallet) = 20),
  tier int NOT NULL CHECK (tier >= 0),
  PRIMARY KEY (subscription, version, wallet)
);
COMMENT ON TABLE webhooks.wallet_tier IS 'the tier of each wallet that ever had one above 0';
`;

const QUEUE = `
-- The lane first: who has its lock takes the next number, and holds it until the commit. So the events of a lane are numbered in the
-- order in which they become visible, and none appears behind one that was sent.
CREATE FUNCTION webhooks.queue_event() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO webhooks.lane AS l (subscription, order_key, waiting, next_attempt_at)
    VALUES (NEW.subscription, NEW.order_key, 1, now())
    ON CONFLICT (subscription, order_key) DO UPDATE SET waiting = l.waiting + 1,
      next_attempt_at = CASE WHEN l.waiting = 0 THEN excluded.next_attempt_at ELSE l.next_attempt_at END;
  NEW.sequence := nextval('webhooks.event_sequence');
  RETURN NEW;
END $$;
REVOKE ALL ON FUNCTION webhooks.queue_event FROM PUBLIC;
CREATE TRIGGER queue BEFORE INSERT ON webhooks.event
  FOR EACH ROW EXECUTE FUNCTION webhooks.queue_event();

CREATE FUNCTION webhooks.refuse_another_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'what an event tells is never changed' USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER unchanged BEFORE UPDATE ON webhooks.event FOR EACH ROW
  WHEN ((NEW.sequence, NEW.id, NEW.subscription, NEW.type, NEW.order_key, NEW.payload, NEW.created_at)
    IS DISTINCT FROM (OLD.sequence, OLD.id, OLD.subscription, OLD.type, OLD.order_key, OLD.payload, OLD.created_at))
  EXECUTE FUNCTION webhooks.refuse_another_event();
`;

/** Whichever program moves a redemption, with the rights of the owner: none of them has any on the outbox for it. */
const REDEMPTIONS = `
CREATE FUNCTION webhooks.public_status(state text) RETURNS text LANGUAGE sql IMMUTABLE
RETURN CASE WHEN state = 'created' THEN 'initial' WHEN state IN ('claimed', 'reverted', 'failed') THEN state ELSE 'pending' END;
REVOKE ALL ON FUNCTION webhooks.public_status FROM PUBLIC;

CREATE FUNCTION webhooks.iso(moment timestamptz) RETURNS text LANGUAGE sql STABLE
RETURN to_char(moment AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

CREATE FUNCTION webhooks.tell_redemption() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  new_status text := webhooks.public_status(NEW.state);
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF webhooks.public_status(OLD.state) = new_status THEN RETURN NULL; END IF;
  END IF;
  INSERT INTO webhooks.event (subscription, type, order_key, payload)
    SELECT s.id, 'redemption.' || new_status, '0x' || encode(NEW.wallet, 'hex'),
      jsonb_build_object('type', 'redemption.' || new_status, 'timestamp', webhooks.iso(NEW.state_since_at),
        'data', jsonb_build_object(
          'redemptionId', NEW.id, 'walletAddress', '0x' || encode(NEW.wallet, 'hex'), 'status', new_status,
          'points', NEW.points, 'usdAmount', NEW.usd_amount::text, 'tokenAmount', NEW.token_amount::text,
          'tokenDecimals', NEW.token_decimals,
          'transactionHash', CASE WHEN new_status = 'claimed' THEN NEW.paid_evidence ->> 'transactionHash' END))::text
    FROM webhooks.subscription s
    WHERE s.partner = NEW.partner AND s.removed_at IS NULL AND 'redemption.*' = ANY (s.topics)
    ORDER BY s.id;
  RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION webhooks.tell_redemption FROM PUBLIC;
CREATE TRIGGER tell_subscribers AFTER INSERT OR UPDATE OF state ON redemption.redemption
  FOR EACH ROW EXECUTE FUNCTION webhooks.tell_redemption();
`;

const OWN = `nullif(current_setting('lowmark.partner', true), '')::uuid`;

const VIEWS = `
CREATE VIEW portal.webhook_subscription WITH (security_barrier) AS
  SELECT s.id, s.url, s.topics, s.stake_set, s.measure, s.days, s.thresholds, s.hysteresis, s.paused_at, s.paused_because, s.created_at,
    s.rotated_at,
    (SELECT coalesce(sum(l.waiting), 0) FROM webhooks.lane l WHERE l.subscription = s.id AND l.waiting > 0)::int AS waiting
  FROM webhooks.subscription s WHERE s.partner = ${OWN} AND s.removed_at IS NULL;
CREATE VIEW portal.webhook_event WITH (security_barrier) AS
  SELECT e.sequence, e.id, e.subscription, e.type, e.order_key, e.payload, e.created_at, e.state, e.waiting_since, e.attempts,
    e.finished_at
  FROM webhooks.event e JOIN webhooks.subscription s ON s.id = e.subscription
  WHERE s.partner = ${OWN} AND s.removed_at IS NULL;
CREATE VIEW portal.webhook_attempt WITH (security_barrier) AS
  SELECT a.id, a.event, a.at, a.outcome, a.status, a.error, a.duration_ms, a.request, a.answer
  FROM webhooks.attempt a JOIN webhooks.event e ON e.sequence = a.event
    JOIN webhooks.subscription s ON s.id = e.subscription
  WHERE s.partner = ${OWN} AND s.removed_at IS NULL;
`;

/** When a webhook was delivered something last: kept with the subscription, as its events are removed after a while. */
export class LastDelivery1760000000043 extends SqlMigration {
  /** What an older program delivers is not noted; the next delivery of a newer one is. */
  readonly olderMayStart = true;
  readonly upStatements = [ADD_LAST_DELIVERY];
  readonly downStatements = [
    `DROP VIEW portal.webhook_subscription; CREATE ${viewWith('')}
      ALTER TABLE webhooks.subscription DROP COLUMN last_delivered_at;`,
  ];
}

function viewWith(further: string): string {
  return `VIEW portal.webhook_subscription WITH (security_barrier) AS
  SELECT s.id, s.url, s.topics, s.stake_set, s.measure, s.days, s.thresholds, s.hysteresis, s.paused_at, s.paused_because, s.created_at,
    s.rotated_at,
    (SELECT coalesce(sum(l.waiting), 0) FROM webhooks.lane l WHERE l.subscription = s.id AND l.waiting > 0)::int AS waiting${further}
  FROM webhooks.subscription s
  WHERE s.partner = nullif(current_setting('lowmark.partner', true), '')::uuid AND s.removed_at IS NULL;
`;
}

/** What was delivered is read before the lock on the subscriptions, which redemptions look at. */
const ADD_LAST_DELIVERY = `
DO $$
DECLARE
  ids uuid[];
  times timestamptz[];
BEGIN
  SELECT array_agg(d.subscription), array_agg(d.at) INTO ids, times
    FROM (SELECT subscription, max(finished_at) AS at FROM webhooks.event WHERE state = 'delivered' GROUP BY subscription) AS d;
  ALTER TABLE webhooks.subscription ADD COLUMN last_delivered_at timestamptz;
  COMMENT ON COLUMN webhooks.subscription.last_delivered_at IS 'when an event was delivered last, to the second; null: none was';
  CREATE OR REPLACE ${viewWith(', s.last_delivered_at')}
  UPDATE webhooks.subscription s SET last_delivered_at = d.at FROM unnest(ids, times) AS d (id, at) WHERE s.id = d.id;
END $$`;
