/**
 * Webhooks: who is told of what, and the events with their attempts. An event is written in the transaction of what it tells. See
 * docs/decisions/0014-webhooks.md.
 */
export const WEBHOOKS = `
CREATE SCHEMA webhooks;

CREATE TABLE webhooks.subscription (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  -- No foreign keys between schemas of different writers; partners are never deleted.
  partner uuid NOT NULL,
  url text NOT NULL CHECK (length(url) BETWEEN 1 AND 2000),
  topics text[] NOT NULL CHECK (cardinality(topics) > 0
    AND topics <@ ARRAY['day.sealed', 'redemption.*', 'answers.corrected']),
  stake_set text NOT NULL, -- whose sealed days are told
  failures int NOT NULL DEFAULT 0 CHECK (failures >= 0), -- attempts in a row that failed; counted up to a few
  paused_at timestamptz,
  paused_because text CHECK (paused_because IN ('partner', 'operator', 'gone')), -- gone: its address answered 410
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  rotated_at timestamptz,
  removed_at timestamptz, -- its rows are removed in pieces after that
  last_delivered_at timestamptz, -- when an event was delivered last, to the second; null: none was
  CHECK (num_nonnulls(paused_at, paused_because) IN (0, 2))
);
COMMENT ON TABLE webhooks.subscription IS 'where a partner wants to be told of what';
CREATE INDEX subscription_partner ON webhooks.subscription (partner) WHERE removed_at IS NULL;

CREATE TABLE webhooks.secret (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  subscription uuid NOT NULL,
  ciphertext bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  ends_at timestamptz -- it was replaced, and signs until then
);
COMMENT ON TABLE webhooks.secret IS 'what events are signed with, sealed under SECRETS_KEY; several are good while one replaces another';
CREATE INDEX secret_subscription ON webhooks.secret (subscription);

CREATE SEQUENCE webhooks.event_sequence AS bigint;
-- No foreign keys: each row would lock that of its subscription.
CREATE TABLE webhooks.event (
  sequence bigint PRIMARY KEY DEFAULT 0, -- of one lane in the order of the transactions: set by the trigger, under the lock of the lane
  id uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(), -- webhook-id is msg_ and its hex digits; the same at each attempt
  subscription uuid NOT NULL,
  type text NOT NULL CHECK (type <> ''),
  order_key text NOT NULL, -- events with the same one are sent one after the other; the wallet, or empty
  payload text NOT NULL CHECK (octet_length(payload) BETWEEN 2 AND 20480), -- JSON, the bytes that are sent and signed
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'delivered', 'given-up')),
  waiting_since timestamptz NOT NULL DEFAULT clock_timestamp(), -- when it was made, or replayed
  attempts int NOT NULL DEFAULT 0 CHECK (attempts >= 0), -- since then
  finished_at timestamptz,
  CHECK ((finished_at IS NULL) = (state = 'waiting'))
);
COMMENT ON TABLE webhooks.event IS 'the outbox: written with what it tells, sent until it is delivered or given up';
CREATE INDEX event_waiting ON webhooks.event (subscription, order_key, sequence) WHERE state = 'waiting';
CREATE INDEX event_since ON webhooks.event (created_at) WHERE state = 'waiting';
CREATE INDEX event_log ON webhooks.event (subscription, sequence);
CREATE INDEX event_finished ON webhooks.event (finished_at) WHERE state <> 'waiting';

CREATE TABLE webhooks.lane (
  subscription uuid NOT NULL,
  order_key text NOT NULL,
  waiting int NOT NULL CHECK (waiting >= 0), -- how many of them wait
  next_attempt_at timestamptz NOT NULL,
  leased_until timestamptz,
  lease_owner uuid,
  PRIMARY KEY (subscription, order_key),
  CHECK (num_nonnulls(leased_until, lease_owner) IN (0, 2))
);
COMMENT ON TABLE webhooks.lane IS 'the events of one subscription with one order key: who has its lease sends the oldest one';
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
  request jsonb NOT NULL, -- its headers
  answer jsonb NOT NULL CHECK (octet_length(answer::text) <= 32768) -- its headers, and the beginning of its body
);
COMMENT ON TABLE webhooks.attempt IS 'each attempt at an event, with what was sent and answered';
CREATE INDEX attempt_event ON webhooks.attempt (event, id);

CREATE TABLE webhooks.told_day (
  stake_set text NOT NULL,
  day int NOT NULL,
  revision int NOT NULL,
  PRIMARY KEY (stake_set, day, revision)
);
COMMENT ON TABLE webhooks.told_day IS 'sealed days whose events were written';

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

CREATE TRIGGER unchanged BEFORE UPDATE ON webhooks.event FOR EACH ROW
  WHEN ((NEW.sequence, NEW.id, NEW.subscription, NEW.type, NEW.order_key, NEW.payload, NEW.created_at)
    IS DISTINCT FROM (OLD.sequence, OLD.id, OLD.subscription, OLD.type, OLD.order_key, OLD.payload, OLD.created_at))
  EXECUTE FUNCTION lowmark.refuse_change('what an event tells is never changed');

-- Whichever program moves a redemption, with the rights of the owner: none of them has any on the outbox for it.
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
