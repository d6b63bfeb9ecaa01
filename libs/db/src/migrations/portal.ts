import { SqlMigration } from '../connection/schema-migration.js';

/**
 * What a partner may see of its own, as views that show the rows of the partner that the transaction names and no others; see
 * portal-database.ts. No view has a secret, a hash of one, or the name of an operator.
 */
export class Portal1760000000028 extends SqlMigration {
  readonly olderMayStart = true;
  readonly upStatements = [INDEXES, ['CREATE SCHEMA portal;', ...VIEWS.map(viewOf)].join('\n')];
  readonly downStatements = [
    'DROP SCHEMA portal CASCADE',
    `DROP INDEX redemption.audit_actor, redemption.audit_partner, redemption.confirmation_partner,
      redemption.partner_call_without_answer, redemption.partner_call_partner, redemption.redemption_partner`,
  ];
}

/** Newest first, of one partner or of one operator; a call's id is a UUID of version 7, and so in the order of time. */
const INDEXES = `
CREATE INDEX redemption_partner ON redemption.redemption (partner, id);
CREATE INDEX partner_call_partner ON redemption.partner_call (partner, request_id);
CREATE INDEX partner_call_without_answer ON redemption.partner_call (partner, request_id) WHERE outcome <> 'answer';
CREATE INDEX confirmation_partner ON redemption.confirmation (partner, redemption_id);
CREATE INDEX audit_partner ON redemption.audit (partner, id) WHERE partner IS NOT NULL;
CREATE INDEX audit_actor ON redemption.audit (actor, id);
`;

interface View {
  readonly name: string;
  readonly columns: string;
  readonly from: string;
  /** The column that says whose row it is. */
  readonly partner: string;
  readonly where?: string;
}

const VIEWS: readonly View[] = [
  {
    name: 'partner',
    columns: 'id, name, rate, burst, stake_set, created_at',
    from: 'partners.partner',
    partner: 'id',
  },
  {
    name: 'credential',
    columns: 'id, key_prefix, created_at, last_used_at, revoked_at',
    from: 'partners.credential',
    partner: 'partner_id',
  },
  {
    name: 'callback',
    columns: `url, usd_per_point, bonus_from_points, bonus_rate, min_points, max_points, daily_token_budget, confirms,
  capabilities, paused, updated_at`,
    from: 'partners.callback',
    partner: 'partner_id',
  },
  {
    name: 'redemption',
    columns: `id, wallet, points, usd_amount, token_amount, token_decimals, price_usd, quote_expires_at, initial_at, state, version,
  reason, revert_reason, resume, partner_transaction_id, partner_revert_id, plan_vault, plan_chain_id, plan_deadline_seconds,
  paid_evidence ->> 'transactionHash' AS paid_transaction_hash, state_since_at, pending_at, deducted_at, authorised_at, claimed_at,
  reverted_at, failed_at, next_action_at`,
    from: 'redemption.redemption',
    partner: 'partner',
  },
  {
    name: 'transition',
    columns: `t.redemption_id, t.version, t.event, t.from_state, t.to_state, t.reason, split_part(t.actor, ':', 1) AS actor,
  t.request_id, t.at`,
    from: 'redemption.transition t JOIN redemption.redemption r ON r.id = t.redemption_id',
    partner: 'r.partner',
  },
  {
    name: 'partner_call',
    columns: 'request_id, redemption_id, step, begun_at, ended_at, outcome, record',
    from: 'redemption.partner_call',
    partner: 'partner',
  },
  {
    name: 'confirmation',
    columns: `redemption_id, payload, state, attempts, first_attempt_at, next_action_at, delivered_at, undelivered_at, created_at`,
    from: 'redemption.confirmation',
    partner: 'partner',
  },
  {
    name: 'request',
    columns: `id, credential_id, at, method, path, path_length, status, code, body, body_bytes, signature, duration_us`,
    from: 'partners.request',
    partner: 'partner_id',
  },
  {
    name: 'member',
    columns: 'subject, name, added_at',
    from: 'console.member',
    partner: 'partner',
    where: 'removed_at IS NULL',
  },
];

/** Without the setting, or with an empty one, which is what a transaction leaves behind, it shows no row. */
function viewOf({ name, columns, from, partner, where }: View): string {
  const besides = where === undefined ? '' : ` AND ${where}`;
  return `CREATE VIEW portal.${name} WITH (security_barrier) AS SELECT ${columns} FROM ${from}
  WHERE ${partner} = nullif(current_setting('lowmark.partner', true), '')::uuid${besides};`;
}
