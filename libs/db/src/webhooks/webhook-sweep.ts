/** Deletes what is over: events that were finished long ago, empty lanes, expired secrets, removed subscriptions. */
import { type Database } from '../connection/database.js';
import { named } from '../connection/named.js';

interface Sweep {
  readonly keptDays: number;
  readonly limit: number;
}

/**
 * Also deletes events that wait while nothing is sent: a subscription that is paused for longer than events are kept
 * loses its oldest events.
 */
const EVENTS = named<Sweep>(
  'webhook_forget_events',
  `WITH old AS MATERIALIZED (
      SELECT e.sequence, e.subscription, e.order_key, e.state FROM webhooks.event e
        LEFT JOIN webhooks.subscription s ON s.id = e.subscription
      WHERE (e.state <> 'waiting' AND e.finished_at < now() - :keptDays * interval '1 day')
        OR (e.state = 'waiting' AND e.created_at < now() - :keptDays * interval '1 day' AND s.paused_at IS NOT NULL)
        OR s.id IS NULL OR s.removed_at IS NOT NULL
      LIMIT :limit FOR UPDATE OF e SKIP LOCKED
    ), attempts AS (DELETE FROM webhooks.attempt a USING old WHERE a.event = old.sequence
    ), gone AS (DELETE FROM webhooks.event e USING old WHERE e.sequence = old.sequence RETURNING old.*
    ), lanes AS (
      UPDATE webhooks.lane l SET waiting = l.waiting - of.waiting
      FROM (SELECT subscription, order_key, count(*) AS waiting FROM gone WHERE state = 'waiting' GROUP BY 1, 2) AS of
      WHERE (l.subscription, l.order_key) = (of.subscription, of.order_key)
    )
    SELECT count(*)::int AS count FROM gone`,
);

const EMPTY_LANES = named<{ limit: number }>(
  'webhook_forget_lanes',
  `WITH empty AS (SELECT subscription, order_key FROM webhooks.lane WHERE waiting = 0 AND leased_until IS NULL LIMIT :limit FOR UPDATE SKIP LOCKED),
    gone AS (DELETE FROM webhooks.lane l USING empty
      WHERE (l.subscription, l.order_key) = (empty.subscription, empty.order_key) AND l.waiting = 0 RETURNING 1)
    SELECT count(*)::int AS count FROM gone`,
);

/** The last step, for subscriptions of which nothing else is left. */
const SUBSCRIPTIONS = named<{ limit: number }>(
  'webhook_forget_subscriptions',
  `WITH over AS (
      SELECT s.id FROM webhooks.subscription s WHERE s.removed_at < now() - interval '1 hour'
        AND NOT EXISTS (SELECT FROM webhooks.event e WHERE e.subscription = s.id)
      LIMIT :limit
    ), lanes AS (DELETE FROM webhooks.lane l USING over WHERE l.subscription = over.id
    ), secrets AS (DELETE FROM webhooks.secret k USING over WHERE k.subscription = over.id
    ), gone AS (DELETE FROM webhooks.subscription s USING over WHERE s.id = over.id RETURNING 1)
    SELECT count(*)::int AS count FROM gone`,
);

const ENDED_SECRETS = named<{ limit: number }>(
  'webhook_forget_secrets',
  `WITH gone AS (DELETE FROM webhooks.secret WHERE id IN (SELECT id FROM webhooks.secret WHERE ends_at < now() LIMIT :limit) RETURNING 1)
    SELECT count(*)::int AS count FROM gone`,
);

const LIMIT = 1000;
const STEPS = [EVENTS, EMPTY_LANES, ENDED_SECRETS, SUBSCRIPTIONS] as const;

export class WebhookSweep {
  constructor(private readonly database: Database) {}

  /**
   * Deletes in batches, until nothing is left or the signal is aborted.
   * @returns number of rows
   */
  async run(keptDays: number, signal: AbortSignal): Promise<number> {
    let total = 0;
    for (const step of STEPS) {
      for (let count = LIMIT; count === LIMIT && !signal.aborted; total += count) {
        const [row] = await this.database.query<{ count: number }>(
          step({ keptDays, limit: LIMIT }),
        );
        count = row?.count ?? 0;
      }
    }
    return total;
  }
}
