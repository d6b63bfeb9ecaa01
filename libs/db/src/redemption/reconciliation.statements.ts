/** The SQL of ReconciliationStore. */
import { type Statement } from '../connection/database.js';

const CHECKPOINT_COLUMNS = `chain_id, encode(vault, 'hex') AS vault, start_block, block_number,
  encode(block_hash, 'hex') AS block_hash, extract(epoch FROM block_at)::bigint AS block_seconds, claims, tokens`;

export const BEGIN_VAULT: Statement = {
  name: 'reconciliation_begin',
  text: `INSERT INTO redemption.reconciliation_checkpoint (chain_id, vault, start_block)
    VALUES ($1, decode($2, 'hex'), $3) ON CONFLICT DO NOTHING`,
};

export const CHECKPOINTS: Statement = {
  name: 'reconciliation_checkpoints',
  text: `SELECT ${CHECKPOINT_COLUMNS} FROM redemption.reconciliation_checkpoint WHERE chain_id = $1 ORDER BY vault`,
};

/** A vault pays an id once: what is there already was read before. */
export const ADD_CLAIMS: Statement = {
  name: 'reconciliation_add_claims',
  text: `WITH added AS (
      INSERT INTO redemption.vault_claim (chain_id, vault, vault_id, redemption_id, transaction_hash, block_number, block_at,
        recipient, amount, seen_at)
      SELECT $1, decode($2, 'hex'), decode(c.vault_id, 'hex'), c.redemption_id, decode(c.transaction_hash, 'hex'),
        c.block_number, to_timestamp(c.block_seconds), decode(c.recipient, 'hex'), c.amount, $3
      FROM unnest($4::text[], $5::uuid[], $6::text[], $7::bigint[], $8::bigint[], $9::text[], $10::numeric[])
        AS c (vault_id, redemption_id, transaction_hash, block_number, block_seconds, recipient, amount)
      ON CONFLICT DO NOTHING RETURNING amount)
    SELECT count(*)::int AS count, coalesce(sum(amount), 0)::text AS tokens FROM added`,
};

export const ADVANCE: Statement = {
  name: 'reconciliation_advance',
  text: `UPDATE redemption.reconciliation_checkpoint
    SET block_number = $4, block_hash = decode($5, 'hex'), block_at = to_timestamp($6),
      claims = claims + $7, tokens = tokens + $8
    WHERE chain_id = $1 AND vault = decode($2, 'hex') AND block_number IS NOT DISTINCT FROM $3
    RETURNING ${CHECKPOINT_COLUMNS}`,
};

export const FORGET_CLAIMS: Statement = {
  name: 'reconciliation_forget_claims',
  text: `DELETE FROM redemption.vault_claim WHERE chain_id = $1 AND vault = decode($2, 'hex')`,
};

export const FORGET: Statement = {
  name: 'reconciliation_forget',
  text: `UPDATE redemption.reconciliation_checkpoint
    SET block_number = NULL, block_hash = NULL, block_at = NULL, claims = 0, tokens = 0
    WHERE chain_id = $1 AND vault = decode($2, 'hex') AND block_number IS NOT DISTINCT FROM $3
    RETURNING ${CHECKPOINT_COLUMNS}`,
};

/** The claim is what was planned: by the row's frozen plan, on this vault. */
const FITS = `(r.plan_vault = c.vault AND r.plan_chain_id = c.chain_id AND r.plan_recipient = c.recipient AND r.plan_amount = c.amount)`;

/** A batch of claims in the order of their ids, after $3. */
export const SETTLE: Statement = {
  name: 'reconciliation_settle',
  text: `WITH batch AS (
      SELECT chain_id, vault, vault_id FROM redemption.vault_claim
      WHERE chain_id = $1 AND vault = decode($2, 'hex') AND NOT settled AND vault_id > decode($3, 'hex')
      ORDER BY vault_id LIMIT $4),
    done AS (
      UPDATE redemption.vault_claim c SET settled = true
      FROM batch b, redemption.redemption r
      WHERE (c.chain_id, c.vault, c.vault_id) = (b.chain_id, b.vault, b.vault_id)
        AND r.id = c.redemption_id AND r.state = 'claimed' AND ${FITS})
    SELECT encode(vault_id, 'hex') AS last FROM batch ORDER BY vault_id DESC LIMIT 1`,
};

const money = (name: string, condition: string): string => `
  count(*) FILTER (WHERE ${condition})::int AS ${name}_count,
  coalesce(sum(points) FILTER (WHERE ${condition}), 0)::text AS ${name}_points,
  coalesce(sum(token_amount) FILTER (WHERE ${condition}), 0)::text AS ${name}_tokens`;

/** All redemptions, once: what is claimed counts even where the deduction is not recorded, so that this shows. */
export const LEDGERS: Statement = {
  name: 'reconciliation_ledgers',
  text: `SELECT partner,
      ${money('deducted', 'deducted_at IS NOT NULL')},
      ${money('claimed', `state = 'claimed'`)},
      ${money('reverted', `state = 'reverted' AND deducted_at IS NOT NULL`)},
      ${money('open', `state NOT IN ('claimed', 'reverted', 'failed') AND deducted_at IS NOT NULL`)}
    FROM redemption.redemption GROUP BY partner ORDER BY partner`,
};

const CLAIM_BLOCK = `(r.paid_evidence -> 'block' ->> 'number')::numeric`;
const IN_LEDGER = `r.state = 'claimed' AND r.plan_chain_id = p.chain_id AND r.plan_vault = p.vault
  AND ${CLAIM_BLOCK} <= p.block_number`;

/** What the rows say was claimed up to the checkpoint, and which of it the chain does not know; $2 examples. */
export const VAULT_LEDGERS: Statement = {
  name: 'reconciliation_vault_ledgers',
  text: `SELECT ${CHECKPOINT_COLUMNS}, l.* FROM redemption.reconciliation_checkpoint p
    CROSS JOIN LATERAL (
      SELECT count(*)::int AS ledger_count, coalesce(sum(r.token_amount), 0)::text AS ledger_tokens,
        count(*) FILTER (WHERE c.vault_id IS NULL)::int AS missing_count,
        coalesce(sum(r.token_amount) FILTER (WHERE c.vault_id IS NULL), 0)::text AS missing_tokens,
        (array_agg(r.id::text ORDER BY r.id) FILTER (WHERE c.vault_id IS NULL))[1:$2] AS missing_examples,
        min(${CLAIM_BLOCK}) FILTER (WHERE c.vault_id IS NULL)::text AS missing_from
      FROM redemption.redemption r LEFT JOIN redemption.vault_claim c
        ON c.redemption_id = r.id AND c.chain_id = p.chain_id AND c.vault = p.vault
      WHERE ${IN_LEDGER}) AS l
    WHERE p.chain_id = $1 AND p.block_number IS NOT NULL ORDER BY p.vault`,
};

/** What is wrong with a claim `c` beside its row `r`, as the branches of a CASE; none of them where it is as it was planned. */
export const CLAIM_FAULTS = `WHEN r.id IS NULL THEN 'without-row'
          WHEN r.plan_amount IS NULL
            OR NOT (r.state IN ('authorised', 'claimed') OR r.state = 'attention' AND r.resume = 'authorised') THEN 'unpayable'
          WHEN NOT ${FITS} THEN 'different'`;

/** The claims that are not settled, each with its kind; what was first seen before `overdue` should have been recorded since. */
export const unsettledClaims = (overdue: string): string => `
    SELECT k.*, a.at AS acknowledged_at, a.actor AS acknowledged_by, a.note
    FROM (
      SELECT c.chain_id, c.vault, c.vault_id, c.amount, c.recipient, c.block_number, c.block_at, c.transaction_hash,
        coalesce(c.redemption_id::text, '0x' || encode(c.vault_id, 'hex')) AS id,
        r.state, r.token_amount, coalesce(${IN_LEDGER}, false) AS in_ledger,
        CASE ${CLAIM_FAULTS}
          WHEN r.state = 'claimed' THEN 'settled'
          WHEN c.seen_at < ${overdue} THEN 'overdue'
          ELSE 'open' END AS kind
      FROM redemption.vault_claim c
        JOIN redemption.reconciliation_checkpoint p USING (chain_id, vault)
        LEFT JOIN redemption.redemption r ON r.id = c.redemption_id
      WHERE NOT c.settled) AS k
      LEFT JOIN LATERAL (
        SELECT at, actor, note FROM redemption.claim_acknowledgement a
        WHERE (a.chain_id, a.vault, a.vault_id, a.transaction_hash, a.kind)
            = (k.chain_id, k.vault, k.vault_id, k.transaction_hash, k.kind)
          AND a.state IS NOT DISTINCT FROM k.state
        ORDER BY a.id DESC LIMIT 1) AS a ON true
    WHERE k.kind <> 'settled'`;

/** $2 examples of each kind; $3 as `overdue`. */
export const UNSETTLED: Statement = {
  name: 'reconciliation_unsettled',
  text: `WITH unsettled AS (
      SELECT vault, amount, block_number, id, token_amount, in_ledger,
        CASE WHEN acknowledged_at IS NULL THEN kind ELSE 'acknowledged' END AS kind
      FROM (${unsettledClaims('$3')}) AS u WHERE chain_id = $1)
    SELECT encode(vault, 'hex') AS vault, kind, count(*)::int AS count, sum(amount)::text AS tokens,
      count(*) FILTER (WHERE in_ledger)::int AS ledger_count,
      coalesce(sum(token_amount) FILTER (WHERE in_ledger), 0)::text AS ledger_tokens,
      (array_agg(id ORDER BY block_number, id))[1:$2] AS examples
    FROM unsettled GROUP BY vault, kind`,
};

export const ELSEWHERE: Statement = {
  name: 'reconciliation_elsewhere',
  text: `SELECT count(*)::int AS count, coalesce(sum(r.token_amount), 0)::text AS tokens FROM redemption.redemption r
    WHERE r.state = 'claimed' AND NOT EXISTS (
      SELECT FROM redemption.reconciliation_checkpoint p
      WHERE p.chain_id = $1 AND p.chain_id = r.plan_chain_id AND p.vault = r.plan_vault)`,
};

export const RECORD: Statement = {
  name: 'reconciliation_record',
  text: `INSERT INTO redemption.reconciliation_run (at, figures, differences) VALUES ($1, $2, $3)`,
};

/** What was acknowledged while it was running may have come too late for it. */
export const LAST_RUN: Statement = {
  name: 'reconciliation_last_run',
  text: `SELECT at, figures, differences,
      EXISTS (SELECT FROM redemption.claim_acknowledgement a WHERE a.at > run.at - interval '15 minutes') AS "isOutdated"
    FROM redemption.reconciliation_run run ORDER BY id DESC LIMIT 1`,
};
