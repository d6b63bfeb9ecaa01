/**
 * Partners and their credentials: the key as a hash, the secret sealed. The role that only reads may note when a credential was last
 * used, and change nothing else: one column, at most once a minute, and never waiting for another writer of the row.
 */
export const PARTNERS = `
CREATE SCHEMA partners;

CREATE TABLE partners.partner (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  name text NOT NULL CHECK (name <> '' AND name = btrim(name)),
  rate int NOT NULL DEFAULT 20 CHECK (rate > 0), -- requests per second
  burst int NOT NULL DEFAULT 100 CHECK (burst > 0),
  stake_set text REFERENCES lowmark.stake_set, -- what its requests mean that name no contract; null: the default set
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX partner_name ON partners.partner (lower(name));

CREATE TABLE partners.credential (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  partner_id uuid NOT NULL REFERENCES partners.partner,
  key_hash bytea NOT NULL UNIQUE CHECK (octet_length(key_hash) = 32), -- SHA-256 of the API key
  key_prefix text NOT NULL CHECK (length(key_prefix) <= 12),
  secret_ciphertext bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz, -- to the minute; null: never
  revoked_at timestamptz,
  ends_at timestamptz -- it was replaced, and is good until then; null: until it is revoked
);
CREATE INDEX credential_partner ON partners.credential (partner_id);

CREATE FUNCTION partners.note_use(credential_id uuid) RETURNS void LANGUAGE sql SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp AS $$
  UPDATE partners.credential SET last_used_at = now() WHERE id = (
    SELECT id FROM partners.credential
    WHERE id = note_use.credential_id AND (last_used_at IS NULL OR last_used_at <= now() - interval '1 minute')
    FOR NO KEY UPDATE SKIP LOCKED)
$$;
REVOKE ALL ON FUNCTION partners.note_use FROM PUBLIC;
GRANT EXECUTE ON FUNCTION partners.note_use TO lowmark_reader;

CREATE TABLE partners.callback (
  partner_id uuid PRIMARY KEY REFERENCES partners.partner,
  url text NOT NULL CHECK (url ~ '^https?://'),
  key text NOT NULL CHECK (key <> ''), -- X-API-KEY of our calls
  secret_ciphertext bytea NOT NULL,
  usd_per_point numeric NOT NULL CHECK (usd_per_point > 0),
  bonus_from_points bigint CHECK (bonus_from_points > 0),
  bonus_rate numeric CHECK (bonus_rate >= 0),
  min_points bigint CHECK (min_points > 0),
  max_points bigint CHECK (max_points >= min_points AND max_points > 0),
  daily_token_budget numeric CHECK (daily_token_budget >= 0), -- whole tokens per UTC day
  confirms boolean NOT NULL DEFAULT true,
  capabilities text[] NOT NULL DEFAULT '{}' CHECK (capabilities <@ ARRAY['revert-by-redemption-id', 'tombstones',
    'enforces-freshness', 'signs-all-responses', 'refuses-mismatched-pair']),
  paused boolean NOT NULL DEFAULT false,
  updated_at timestamptz NOT NULL DEFAULT now(),
  CHECK (num_nonnulls(bonus_from_points, bonus_rate) IN (0, 2)),
  -- NaN and infinity pass for large numbers.
  CHECK (usd_per_point < 'Infinity' AND bonus_rate < 'Infinity' AND daily_token_budget < 'Infinity')
);

-- What partners asked of the api, and its answers. The api has no right on the table: it adds and forgets rows through two
-- functions and can read none.
CREATE TABLE partners.request (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- No foreign keys: each row would lock its partner's. The function below looks instead.
  partner_id uuid NOT NULL,
  credential_id uuid NOT NULL,
  request_id text NOT NULL CHECK (request_id ~ '^[A-Za-z0-9._-]{1,64}$'), -- X-Request-Id of the answer: the client's own, or ours
  at timestamptz NOT NULL,
  method text NOT NULL CHECK (length(method) BETWEEN 1 AND 32),
  path text NOT NULL CHECK (length(path) <= 2048), -- with the query, a character for each byte that was sent; the beginning
  path_length int NOT NULL CHECK (path_length >= length(path)), -- of all of it
  status int NOT NULL CHECK (status BETWEEN 100 AND 599),
  code text CHECK (length(code) BETWEEN 1 AND 100), -- of an error
  body bytea NOT NULL CHECK (octet_length(body) <= 8192), -- of the answer; the beginning
  body_bytes int NOT NULL CHECK (body_bytes >= octet_length(body)), -- of all of it
  signature bytea NOT NULL CHECK (octet_length(signature) = 32),
  duration_us int NOT NULL CHECK (duration_us >= 0)
);
COMMENT ON TABLE partners.request IS 'what partners asked of the api and what it answered, for some days';
CREATE INDEX request_partner ON partners.request (partner_id, id);

-- Adds requests of known credentials; the bodies one after the other. Returns how many were added.
CREATE FUNCTION partners.note_requests(requests json, bodies bytea) RETURNS int LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  added int;
BEGIN
  INSERT INTO partners.request (partner_id, credential_id, at, method, path, path_length, status, code, body, body_bytes, signature,
      duration_us, request_id)
    SELECT c.partner_id, c.id, to_timestamp(r.at_ms / 1000.0), r.method, r.path, r.path_length, r.status, r.code,
      substring(bodies FROM r.body_start + 1 FOR r.body_kept), r.body_bytes, decode(r.signature, 'hex'), r.duration_us, r.request_id
    FROM ROWS FROM (json_to_recordset(requests) AS ("credentialId" uuid, "atMs" float8, method text, path text, "pathLength" int,
      status int, code text, "bodyStart" int, "bodyKept" int, "bodyBytes" int, signature text, "durationUs" int, "requestId" text))
      WITH ORDINALITY AS r(credential_id, at_ms, method, path, path_length, status, code, body_start, body_kept, body_bytes, signature,
      duration_us, request_id, place)
    JOIN partners.credential c ON c.id = r.credential_id
    ORDER BY r.place;
  GET DIAGNOSTICS added = ROW_COUNT;
  RETURN added;
END $$;
REVOKE ALL ON FUNCTION partners.note_requests FROM PUBLIC;
GRANT EXECUTE ON FUNCTION partners.note_requests TO lowmark_reader;

-- Removes what is older, and of each partner what is beyond the newest ones; at_most of each. Nothing of the last day is too old, and of a
-- partner a thousand stay. Returns how many are gone: at_most or more, where there may be more to remove.
CREATE FUNCTION partners.forget_requests(noted_before timestamptz, kept int, at_most int) RETURNS int LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  aged int;
  beyond int;
BEGIN
  -- One sweep at a time is enough.
  IF NOT pg_try_advisory_xact_lock(4219, 1) THEN
    RETURN 0;
  END IF;
  -- The oldest are those with the smallest ids, by seconds at most.
  DELETE FROM partners.request WHERE id IN (
    SELECT id FROM (SELECT id, at FROM partners.request ORDER BY id LIMIT at_most) AS oldest
    WHERE at < least(noted_before, now() - interval '1 day'));
  GET DIAGNOSTICS aged = ROW_COUNT;
  DELETE FROM partners.request WHERE id IN (
    SELECT surplus.id FROM partners.partner p
      CROSS JOIN LATERAL (SELECT r.id FROM partners.request r WHERE r.partner_id = p.id
        ORDER BY r.id DESC OFFSET greatest(kept, 1000) LIMIT 1) AS newest
      CROSS JOIN LATERAL (SELECT r.id FROM partners.request r WHERE r.partner_id = p.id AND r.id <= newest.id
        ORDER BY r.id LIMIT at_most) AS surplus
    LIMIT at_most);
  GET DIAGNOSTICS beyond = ROW_COUNT;
  RETURN aged + beyond;
END $$;
REVOKE ALL ON FUNCTION partners.forget_requests FROM PUBLIC;
GRANT EXECUTE ON FUNCTION partners.forget_requests TO lowmark_reader;

-- Repairs of the index, and the answers that were signed with a figure that was wrong. Written by the operator's command; a
-- partner sees its own answers.
CREATE TABLE partners.correction (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  stake_set text NOT NULL,
  reason text NOT NULL CHECK (length(reason) BETWEEN 1 AND 500), -- in the operator's words; partners read it
  actor text NOT NULL CHECK (actor <> ''),
  -- Balance changes that were wrong: wallet, block, and both balances; null where there is no row.
  blocks jsonb NOT NULL CHECK (jsonb_typeof(blocks) = 'array'),
  told_at timestamptz -- when the answers concerned were found and the partners' events written
);
COMMENT ON TABLE partners.correction IS 'a repair of the index: written with it, in its transaction';

CREATE TABLE partners.corrected_days (
  correction bigint NOT NULL REFERENCES partners.correction,
  wallet bytea NOT NULL CHECK (octet_length(wallet) = 20),
  first_day int NOT NULL,
  last_day int NOT NULL CHECK (last_day >= first_day),
  stored numeric(78, 0) NOT NULL CHECK (stored >= 0),
  correct numeric(78, 0) NOT NULL CHECK (correct >= 0 AND correct <> stored),
  PRIMARY KEY (correction, wallet, first_day)
);
COMMENT ON TABLE partners.corrected_days IS 'days on which the amount of a wallet was wrong, in the smallest unit of the token';

CREATE TABLE partners.corrected_answer (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  correction bigint NOT NULL REFERENCES partners.correction,
  partner_id uuid NOT NULL,
  request bigint NOT NULL, -- id in the log of requests, which forgets it after some days
  request_id text NOT NULL, -- X-Request-Id
  requested_at timestamptz NOT NULL,
  method text NOT NULL,
  path text NOT NULL,
  is_certain boolean NOT NULL, -- false: the log does not have all of the answer, which may have a wrong figure
  figures jsonb NOT NULL CHECK (jsonb_typeof(figures) = 'array'), -- wallet, day or block, the figure that was signed, and the correct one
  UNIQUE (correction, request)
);
COMMENT ON TABLE partners.corrected_answer IS 'answers that were signed with a wrong figure, by the log of requests';
CREATE INDEX corrected_answer_partner ON partners.corrected_answer (partner_id, id);
`;
