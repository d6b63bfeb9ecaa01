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
    columns: 'id, key_prefix, created_at, last_used_at, revoked_at, ends_at',
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
    name: 'request',
    columns: `id, credential_id, at, method, path, path_length, status, code, body, body_bytes, signature, duration_us, request_id`,
    from: 'partners.request',
    partner: 'partner_id',
  },
  {
    name: 'corrected_answer',
    columns: `a.id, a.correction, c.at, c.stake_set, c.reason, a.request::text, a.request_id, a.requested_at, a.method, a.path,
  a.is_certain, a.figures`,
    from: 'partners.corrected_answer a JOIN partners.correction c ON c.id = a.correction',
    partner: 'a.partner_id',
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
    name: 'member',
    columns: 'subject, name, added_at',
    from: 'console.member',
    partner: 'partner',
    where: 'removed_at IS NULL',
  },
  {
    name: 'conformance_run',
    columns: `base_url, address, started_at, progress, coalesce(ended_at, CASE WHEN held_until <= now() THEN held_until END) AS ended_at,
  report, failure`,
    from: 'console.conformance_run',
    partner: 'partner',
  },
  {
    // Those that a run left behind: the others are settled within its minutes.
    name: 'conformance_deduction',
    columns: 'redemption_id, address, points, transaction_id, attempts, due_at',
    from: 'console.conformance_deduction',
    partner: 'partner',
    where: 'attempts > 0',
  },
  {
    name: 'webhook_subscription',
    columns: `s.id, s.url, s.topics, s.stake_set, s.paused_at, s.paused_because, s.created_at, s.rotated_at,
  (SELECT coalesce(sum(l.waiting), 0) FROM webhooks.lane l WHERE l.subscription = s.id AND l.waiting > 0)::int AS waiting,
  s.last_delivered_at`,
    from: 'webhooks.subscription s',
    partner: 's.partner',
    where: 's.removed_at IS NULL',
  },
  {
    name: 'webhook_event',
    columns: `e.sequence, e.id, e.subscription, e.type, e.order_key, e.payload, e.created_at, e.state, e.waiting_since, e.attempts,
  e.finished_at`,
    from: 'webhooks.event e JOIN webhooks.subscription s ON s.id = e.subscription',
    partner: 's.partner',
    where: 's.removed_at IS NULL',
  },
  {
    name: 'webhook_attempt',
    columns:
      'a.id, a.event, a.at, a.outcome, a.status, a.error, a.duration_ms, a.request, a.answer',
    from: `webhooks.attempt a JOIN webhooks.event e ON e.sequence = a.event
  JOIN webhooks.subscription s ON s.id = e.subscription`,
    partner: 's.partner',
    where: 's.removed_at IS NULL',
  },
];

/** Without the setting, or with an empty one, which is what a transaction leaves behind, it shows no row. */
function viewOf({ name, columns, from, partner, where }: View): string {
  const besides = where === undefined ? '' : ` AND ${where}`;
  return `CREATE VIEW portal.${name} WITH (security_barrier) AS SELECT ${columns} FROM ${from}
  WHERE ${partner} = nullif(current_setting('lowmark.partner', true), '')::uuid${besides};`;
}

/**
 * What a partner may see of its own, as views that show the rows of the partner that the transaction names and no others; see
 * portal-database.ts. No view has a secret, a hash of one, or the name of an operator.
 */
export const PORTAL = ['CREATE SCHEMA portal;', ...VIEWS.map(viewOf)].join('\n');
