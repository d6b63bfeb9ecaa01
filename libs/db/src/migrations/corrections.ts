import { SqlMigration } from '../connection/schema-migration.js';

/**
 * Repairs of the index, and the answers that were signed with a figure that was wrong. Written by the operator's command; a partner sees
 * its own answers.
 */
export class Corrections1760000007001 extends SqlMigration {
  readonly olderMayStart = true;
  readonly upStatements = [
    TABLES,
    topics(`'day.sealed', 'wallet.tier-changed', 'redemption.*', 'answers.corrected'`),
    VIEW,
  ];
  readonly downStatements = [
    'DROP VIEW portal.corrected_answer',
    'DROP TABLE partners.corrected_answer, partners.corrected_days, partners.correction',
    `DELETE FROM webhooks.subscription WHERE topics = ARRAY['answers.corrected'];
      UPDATE webhooks.subscription SET topics = array_remove(topics, 'answers.corrected')`,
    topics(`'day.sealed', 'wallet.tier-changed', 'redemption.*'`),
  ];
}

const TABLES = `
CREATE TABLE partners.correction (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  stake_set text NOT NULL,
  reason text NOT NULL CHECK (length(reason) BETWEEN 1 AND 500),
  actor text NOT NULL CHECK (actor <> ''),
  blocks jsonb NOT NULL CHECK (jsonb_typeof(blocks) = 'array'),
  told_at timestamptz
);
COMMENT ON TABLE partners.correction IS 'a repair of the index: written with it, in its transaction';
COMMENT ON COLUMN partners.correction.reason IS 'in the operator''s words; partners read it';
COMMENT ON COLUMN partners.correction.blocks IS 'balance changes that were wrong: wallet, block, and both balances; null where there is no row';
COMMENT ON COLUMN partners.correction.told_at IS 'when the answers concerned were found and the partners'' events written';

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
  request bigint NOT NULL,
  request_id text,
  requested_at timestamptz NOT NULL,
  method text NOT NULL,
  path text NOT NULL,
  is_certain boolean NOT NULL,
  figures jsonb NOT NULL CHECK (jsonb_typeof(figures) = 'array'),
  UNIQUE (correction, request)
);
COMMENT ON TABLE partners.corrected_answer IS 'answers that were signed with a wrong figure, by the log of requests';
COMMENT ON COLUMN partners.corrected_answer.request IS 'id in the log of requests, which forgets it after some days';
COMMENT ON COLUMN partners.corrected_answer.request_id IS 'X-Request-Id';
COMMENT ON COLUMN partners.corrected_answer.is_certain IS 'false: the log does not have all of the answer, which may have a wrong figure';
COMMENT ON COLUMN partners.corrected_answer.figures IS 'wallet, day or block, the figure that was signed, and the correct one';
CREATE INDEX corrected_answer_partner ON partners.corrected_answer (partner_id, id);
-- The role that only reads has every new table of the schema by default.
REVOKE ALL ON partners.correction, partners.corrected_days, partners.corrected_answer FROM lowmark_reader;
`;

function topics(known: string): string {
  return `ALTER TABLE webhooks.subscription DROP CONSTRAINT subscription_topics_check,
  ADD CONSTRAINT subscription_topics_check CHECK (cardinality(topics) > 0 AND topics <@ ARRAY[${known}])`;
}

const VIEW = `
CREATE VIEW portal.corrected_answer WITH (security_barrier) AS
  SELECT a.id, a.correction, c.at, c.stake_set, c.reason, a.request::text, a.request_id, a.requested_at, a.method, a.path, a.is_certain, a.figures
  FROM partners.corrected_answer a JOIN partners.correction c ON c.id = a.correction
  WHERE a.partner_id = nullif(current_setting('lowmark.partner', true), '')::uuid;
`;
