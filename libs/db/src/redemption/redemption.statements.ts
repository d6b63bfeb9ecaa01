import { type Statement } from '../connection/database.js';
import { READ_COLUMNS, STATE_COLUMNS, TERM_COLUMNS } from './redemption-columns.js';

export const HINT_CHANNEL = 'lowmark_redemption';

/** Creations of one wallet happen one after the other. No creation waits long: the user waits with it. */
export const LOCK_WALLET: Statement = {
  name: 'redemption_lock_wallet',
  text: `SELECT set_config('lock_timeout', '2s', true), pg_advisory_xact_lock(4217, hashtext($1))`,
};

export const REPLAYED: Statement = {
  name: 'redemption_replayed',
  text: `SELECT k.body_hash, ${READ_COLUMNS}
    FROM redemption.idempotency_key k JOIN redemption.redemption r ON r.id = k.redemption_id
    WHERE k.wallet = $1 AND k.key = $2`,
};

/** $1 partner, $2 wallet, $3 $4 the UTC day, half-open. What was only asked for counts as open, and in no budget. */
export const USAGE: Statement = {
  name: 'redemption_usage',
  text: `SELECT o.open, o.open_id,
    redemption.reserved_tokens(redemption.budget_subject($1, $3)) AS partner_tokens,
    (SELECT coalesce(sum(token_amount), 0) FROM redemption.redemption
      WHERE wallet = $2 AND initial_at >= $3 AND initial_at < $4 AND state NOT IN ('created', 'reverted', 'failed')) AS wallet_tokens
    FROM (SELECT count(*)::int AS open, min(id::text) AS open_id FROM redemption.redemption
      WHERE wallet = $2 AND partner = $1 AND state NOT IN ('claimed', 'reverted', 'failed')) AS o`,
};

/** What is open and may still be paid: the points are being taken, or a voucher is out. */
export const PROMISED: Statement = {
  name: 'redemption_promised',
  text: `SELECT redemption.reserved_tokens('payouts')::text AS tokens`,
};

const ALL_COLUMNS = ['evidence_mac', ...TERM_COLUMNS, ...STATE_COLUMNS];

/** $1 idempotency key, $2 hash of the body, $3 actor, then the MAC, the terms and the state. */
export const CREATE: Statement = {
  name: 'redemption_create',
  text: `WITH created AS (
      INSERT INTO redemption.redemption (${ALL_COLUMNS.join(', ')})
      VALUES (${ALL_COLUMNS.map((_, index) => `$${index + 4}`).join(', ')}) RETURNING id, wallet, state, version
    ), keyed AS (
      INSERT INTO redemption.idempotency_key (wallet, key, body_hash, redemption_id) SELECT wallet, $1, $2, id FROM created
    ), noted AS (
      INSERT INTO redemption.transition (redemption_id, version, event, to_state, actor)
      SELECT id, version, 'create', state, $3 FROM created
    )
    SELECT pg_notify('${HINT_CHANNEL}', '') FROM created`,
};

/**
 * $1 how many, $2 owner, $3 milliseconds, $4 the moment up to which rows are due, or null for now, $5 whether their payout is
 * authorised, or null for either. Leases run by the database's clock, which all workers share.
 */
export const LEASE: Statement = {
  name: 'redemption_lease',
  text: `WITH picked AS MATERIALIZED (
      SELECT id FROM redemption.redemption
      WHERE next_action_at <= coalesce($4::timestamptz, now()) AND (leased_until IS NULL OR leased_until <= now())
        AND ($5::boolean IS NULL OR (state = 'authorised') = $5)
      ORDER BY next_action_at FOR UPDATE SKIP LOCKED LIMIT $1
    )
    UPDATE redemption.redemption r SET leased_until = now() + $3 * interval '1 millisecond', lease_owner = $2
    FROM picked WHERE r.id = picked.id RETURNING ${READ_COLUMNS}`,
};

export const RENEW: Statement = {
  name: 'redemption_renew',
  text: `UPDATE redemption.redemption SET leased_until = now() + $3 * interval '1 millisecond'
    WHERE id = $1 AND lease_owner = $2 RETURNING id`,
};

export const RELEASE: Statement = {
  name: 'redemption_release',
  text: `UPDATE redemption.redemption SET leased_until = NULL, lease_owner = NULL
    WHERE id = $1 AND lease_owner = $2 RETURNING id`,
};

/** $1 ids, $2 their versions as read, $3 owner, $4 when they are due again. One that has moved on keeps its own time. */
export const POSTPONE: Statement = {
  name: 'redemption_postpone',
  text: `UPDATE redemption.redemption r SET leased_until = NULL, lease_owner = NULL,
      next_action_at = CASE WHEN r.version = seen.version THEN $4 ELSE r.next_action_at END
    FROM unnest($1::uuid[], $2::int[]) AS seen (id, version)
    WHERE r.id = seen.id AND r.lease_owner = $3 AND r.next_action_at IS NOT NULL`,
};

/** $1 ids, $2 owner, $3 how long, $4 by which clock: those that cannot be read, so that they hold up no others. */
export const SET_ASIDE: Statement = {
  name: 'redemption_set_aside',
  text: `UPDATE redemption.redemption SET leased_until = NULL, lease_owner = NULL,
      next_action_at = coalesce($4::timestamptz, now()) + $3 * interval '1 millisecond'
    WHERE id = ANY ($1::uuid[]) AND lease_owner = $2`,
};

/** Only those whose newest transition is a revert that never left: others wait for what the partner said. */
export const HASTEN: Statement = {
  name: 'redemption_hasten',
  text: `WITH hastened AS (
      UPDATE redemption.redemption r SET next_action_at = $2
      WHERE r.partner = $1 AND r.state = 'reverting' AND r.next_action_at > $2
        AND (r.leased_until IS NULL OR r.leased_until <= now())
        AND EXISTS (SELECT FROM redemption.transition t
          WHERE t.redemption_id = r.id AND t.version = r.version AND t.event = 'revert-not-sent')
      RETURNING r.id)
    SELECT count(*)::int AS count, CASE WHEN count(*) > 0 THEN pg_notify('${HINT_CHANNEL}', '')::text END FROM hastened`,
};

const FIRST_STATE = 26;

/** The reservation's values, after all others. */
const [ROOM, PARTNER_BUDGET, WALLET_BUDGET] = [0, 1, 2].map(
  (place) => `$${FIRST_STATE + STATE_COLUMNS.length + place}::numeric`,
);
const TO_RESERVE = 'partner, wallet, token_amount, initial_at';

/**
 * One transition with all that belongs to it, in one statement: nothing of it is written where the row is not the one that was
 * read, by its version or by a restore of the ledger that was noted since, nor where its tokens are to be reserved and cannot be.
 * The parameters are those of `applyValues`.
 */
export const APPLY: Statement = {
  name: 'redemption_apply',
  text: `WITH moved AS (
      UPDATE redemption.redemption r SET ${STATE_COLUMNS.map((name, index) => `${name} = $${index + FIRST_STATE}`).join(', ')},
        plan_vault = coalesce(plan_vault, $18), plan_chain_id = coalesce(plan_chain_id, $19),
        plan_from_block = coalesce(plan_from_block, $20),
        evidence_mac = CASE WHEN $23 THEN $24::bytea ELSE evidence_mac END,
        names_mac = CASE WHEN $23 THEN $25::bytea ELSE names_mac END,
        leased_until = CASE WHEN $21 THEN NULL ELSE leased_until END,
        lease_owner = CASE WHEN $21 THEN NULL ELSE lease_owner END
      WHERE id = $1 AND state = $2 AND version = $3 AND ($4::text IS NULL OR lease_owner = $4)
        AND lost_voucher_until_seconds IS NOT DISTINCT FROM $22::bigint
        AND CASE WHEN ${ROOM} IS NULL THEN true
          ELSE redemption.reserve(${TO_RESERVE}, ${ROOM}, ${PARTNER_BUDGET}, ${WALLET_BUDGET}) IS NULL END
      RETURNING id, partner, version, state, reason, state_since_at
    ), noted AS (
      INSERT INTO redemption.transition (redemption_id, version, event, from_state, to_state, reason, actor, request_id)
      SELECT id, version, $5, $2, state, reason, $6, $7::uuid FROM moved
    ), begun AS (
      INSERT INTO redemption.partner_call (request_id, redemption_id, partner, step)
      SELECT $8::uuid, id, partner, $9 FROM moved WHERE $8::uuid IS NOT NULL
    ), ended AS (
      UPDATE redemption.partner_call c SET ended_at = clock_timestamp(), outcome = $11, record = $12::jsonb
      FROM moved WHERE c.request_id = $10::uuid AND c.redemption_id = moved.id AND c.ended_at IS NULL
    ), delivery AS (
      INSERT INTO redemption.confirmation (redemption_id, partner, payload, state, version, attempts, next_action_at)
      SELECT id, partner, $13, 'pending', 1, 0, state_since_at FROM moved WHERE $13::text IS NOT NULL
    ), audited AS (
      INSERT INTO redemption.audit (actor, command, redemption_id, partner, arguments, outcome)
      SELECT $6, $14, id, partner, coalesce($15::jsonb, '{}'), $16 FROM moved WHERE $14::text IS NOT NULL
    )
    SELECT version, CASE WHEN $17 THEN pg_notify('${HINT_CHANNEL}', '')::text END FROM moved`,
};

/** Why it could not be reserved: $1 the redemption, $2 room, $3 the partner's budget, $4 the wallet's. */
export const REFUSED_RESERVATION: Statement = {
  name: 'redemption_refused_reservation',
  text: `SELECT redemption.reserve(${TO_RESERVE}, $2, $3, $4) AS reason FROM redemption.redemption WHERE id = $1`,
};

export const BY_ID: Statement = {
  name: 'redemption_by_id',
  text: `SELECT ${READ_COLUMNS}, r.lease_owner, r.leased_until FROM redemption.redemption r WHERE r.id = $1`,
};

export const OF_WALLET: Statement = {
  name: 'redemption_of_wallet',
  text: `SELECT ${READ_COLUMNS} FROM redemption.redemption r WHERE r.id = $1 AND r.wallet = $2`,
};

/** Newest first: ids of version 7 sort by time. */
export const LIST: Statement = {
  name: 'redemption_list',
  text: `SELECT ${READ_COLUMNS} FROM redemption.redemption r
    WHERE r.wallet = $1 AND ($2::uuid IS NULL OR r.id < $2) ORDER BY r.id DESC LIMIT $3`,
};

export const BEGIN_CALL: Statement = {
  name: 'call_begin',
  text: `INSERT INTO redemption.partner_call (request_id, partner, step) VALUES ($1, $2, 'balance')`,
};

export const END_CALL: Statement = {
  name: 'call_end',
  text: `UPDATE redemption.partner_call SET ended_at = clock_timestamp(), outcome = $2, record = $3
    WHERE request_id = $1 AND ended_at IS NULL RETURNING request_id`,
};
