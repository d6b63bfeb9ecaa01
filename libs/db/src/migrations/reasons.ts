import { SqlMigration } from '../connection/schema-migration.js';

/**
 * Why an action is asked for that waits for a second operator, and the id under which a partner's client knows its request; programs of
 * before write neither. And for a partner what conformance runs have not given back yet.
 */
export class Reasons1760000000042 extends SqlMigration {
  readonly olderMayStart = true;
  readonly upStatements = [REASONS, REQUEST_IDS, OPEN_DEDUCTIONS];
  readonly downStatements = [
    'DROP VIEW portal.conformance_deduction',
    WITHOUT_REQUEST_IDS,
    WITHOUT_REASONS,
  ];
}

const ASKED = [
  ...['id', 'action', 'arguments', 'summary', 'requested_by', 'requested_name', 'requested_at'],
  'expires_at',
];

/** @param frozen the columns that say what is asked for */
function guardOf(frozen: readonly string[]): string {
  const of = (row: string): string => frozen.map((column) => `${row}.${column}`).join(', ');
  return `
CREATE OR REPLACE FUNCTION console.guard_approval() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NEW.decision IS NOT NULL THEN
      RAISE EXCEPTION 'an approval is asked for before it is decided' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
  END IF;
  IF (${of('NEW')}) IS DISTINCT FROM (${of('OLD')}) THEN
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
`;
}

const REASONS = `
ALTER TABLE console.approval ADD COLUMN reason text CHECK (length(reason) BETWEEN 1 AND 500),
  ADD COLUMN expiry_noted boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN console.approval.reason IS 'of who asked, for who decides; null: asked for by a version before';
COMMENT ON COLUMN console.approval.expiry_noted IS 'it expired, and the audit says so';
${guardOf([...ASKED, 'reason'])}`;

const WITHOUT_REASONS = `${guardOf(ASKED)}
ALTER TABLE console.approval DROP COLUMN reason, DROP COLUMN expiry_noted;
`;

const COLUMNS = [
  ...['at', 'method', 'path', 'path_length', 'status', 'code', 'body', 'body_bytes', 'signature'],
  'duration_us',
];

function viewOf(columns: readonly string[]): string {
  return `VIEW portal.request WITH (security_barrier) AS
  SELECT id, credential_id, ${columns.join(', ')} FROM partners.request
  WHERE partner_id = nullif(current_setting('lowmark.partner', true), '')::uuid;
`;
}

/** @param id further columns for the id of the request: of the table, of the JSON, of its rows */
function noteOf(id: { readonly column: string; readonly json: string; readonly row: string }) {
  return `
CREATE OR REPLACE FUNCTION partners.note_requests(requests json, bodies bytea) RETURNS int LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  added int;
BEGIN
  INSERT INTO partners.request (partner_id, credential_id, ${COLUMNS.join(', ')}${id.column})
    SELECT c.partner_id, c.id, to_timestamp(r.at_ms / 1000.0), r.method, r.path, r.path_length, r.status, r.code,
      substring(bodies FROM r.body_start + 1 FOR r.body_kept), r.body_bytes, decode(r.signature, 'hex'), r.duration_us${id.row}
    FROM ROWS FROM (json_to_recordset(requests) AS ("credentialId" uuid, "atMs" float8, method text, path text, "pathLength" int,
      status int, code text, "bodyStart" int, "bodyKept" int, "bodyBytes" int, signature text, "durationUs" int${id.json}))
      WITH ORDINALITY AS r(credential_id, at_ms, method, path, path_length, status, code, body_start, body_kept, body_bytes, signature,
      duration_us${id.column}, place)
    JOIN partners.credential c ON c.id = r.credential_id
    ORDER BY r.place;
  GET DIAGNOSTICS added = ROW_COUNT;
  RETURN added;
END $$;
`;
}

const REQUEST_IDS = `
ALTER TABLE partners.request ADD COLUMN request_id text CHECK (request_id ~ '^[A-Za-z0-9._-]{1,64}$');
COMMENT ON COLUMN partners.request.request_id IS 'X-Request-Id of the answer: the client''s own, or ours; null: noted by a version before';
CREATE OR REPLACE ${viewOf([...COLUMNS, 'request_id'])}
${noteOf({ column: ', request_id', json: ', "requestId" text', row: ', r.request_id' })}`;

const WITHOUT_REQUEST_IDS = `${noteOf({ column: '', json: '', row: '' })}
DROP VIEW portal.request;
CREATE ${viewOf(COLUMNS)}
ALTER TABLE partners.request DROP COLUMN request_id;
`;

/** Those that a run left behind: the others are settled within its minutes. */
const OPEN_DEDUCTIONS = `
CREATE VIEW portal.conformance_deduction WITH (security_barrier) AS
  SELECT redemption_id, address, points, transaction_id, attempts, due_at FROM console.conformance_deduction
  WHERE partner = nullif(current_setting('lowmark.partner', true), '')::uuid AND attempts > 0;
`;
