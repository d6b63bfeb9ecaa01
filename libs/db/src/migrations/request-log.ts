import { SqlMigration } from '../connection/schema-migration.js';

/**
 * What partners asked of the api, and its answers. The api has no right on the table: an older api would refuse to start with a right
 * that it does not know. It adds and forgets rows through two functions and can read none.
 */
export class RequestLog1760000000027 extends SqlMigration {
  readonly olderMayStart = true;
  readonly upStatements = [REQUESTS];
  readonly downStatements = [
    'DROP FUNCTION partners.forget_requests',
    'DROP FUNCTION partners.note_requests',
    'DROP TABLE partners.request',
  ];
}

const REQUESTS = `
CREATE TABLE partners.request (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- No foreign keys: each row would lock its partner's. The function below looks instead.
  partner_id uuid NOT NULL,
  credential_id uuid NOT NULL,
  at timestamptz NOT NULL,
  method text NOT NULL CHECK (length(method) BETWEEN 1 AND 32),
  path text NOT NULL CHECK (length(path) <= 2048),
  path_length int NOT NULL CHECK (path_length >= length(path)),
  status int NOT NULL CHECK (status BETWEEN 100 AND 599),
  code text CHECK (length(code) BETWEEN 1 AND 100),
  body bytea NOT NULL CHECK (octet_length(body) <= 8192),
  body_bytes int NOT NULL CHECK (body_bytes >= octet_length(body)),
  signature bytea NOT NULL CHECK (octet_length(signature) = 32),
  duration_us int NOT NULL CHECK (duration_us >= 0)
);
COMMENT ON TABLE partners.request IS 'what partners asked of the api and what it answered, for some days';
COMMENT ON COLUMN partners.request.path IS 'with the query, a character for each byte that was sent; the beginning';
COMMENT ON COLUMN partners.request.path_length IS 'of all of it';
COMMENT ON COLUMN partners.request.code IS 'of an error';
COMMENT ON COLUMN partners.request.body IS 'of the answer; the beginning';
COMMENT ON COLUMN partners.request.body_bytes IS 'of all of it';
CREATE INDEX request_partner ON partners.request (partner_id, id);
-- The role that only reads has every new table of the schema by default.
REVOKE ALL ON partners.request FROM lowmark_reader;

-- Adds requests of known credentials; the bodies one after the other. Returns how many were added.
CREATE FUNCTION partners.note_requests(requests json, bodies bytea) RETURNS int LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  added int;
BEGIN
  INSERT INTO partners.request (partner_id, credential_id, at, method, path, path_length, status, code, body, body_bytes, signature,
      duration_us)
    SELECT c.partner_id, c.id, to_timestamp(r.at_ms / 1000.0), r.method, r.path, r.path_length, r.status, r.code,
      substring(bodies FROM r.body_start + 1 FOR r.body_kept), r.body_bytes, decode(r.signature, 'hex'), r.duration_us
    FROM ROWS FROM (json_to_recordset(requests) AS ("credentialId" uuid, "atMs" float8, method text, path text, "pathLength" int,
      status int, code text, "bodyStart" int, "bodyKept" int, "bodyBytes" int, signature text, "durationUs" int)) WITH ORDINALITY
      AS r(credential_id, at_ms, method, path, path_length, status, code, body_start, body_kept, body_bytes, signature, duration_us, place)
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
`;
