/** The log of webhooks, newest first: for a partner from the views of the portal, for an operator from the tables. */
import { type QueryResultRow } from 'pg';
import { type WebhookId } from '#libs/domain';
import { named, type OrNull, orNull, type Statement } from '../connection/named.js';
import { canonicalPayload } from './event-queue.js';
import { SUBSCRIPTION_COLUMNS, type WebhookSubscription } from './subscription.js';

type Query = <R extends QueryResultRow>(statement: Statement) => Promise<R[]>;

export const EVENT_STATES = ['waiting', 'delivered', 'given-up'] as const;
export type WebhookEventState = (typeof EVENT_STATES)[number];

export interface LoggedEvent {
  readonly sequence: bigint;
  readonly id: string;
  readonly type: string;
  /** Events with the same key are sent one after the other: a wallet, the type of a test event, or empty. */
  readonly orderKey: string;
  readonly payload: string;
  readonly createdAt: Date;
  readonly state: WebhookEventState;
  /** Number of attempts since the event was created or replayed. */
  readonly attempts: number;
  readonly finishedAt: Date | null;
  /** HTTP status of the newest attempt. */
  readonly lastStatus: number | null;
  readonly lastError: string | null;
}

export interface LoggedAttempt {
  readonly at: Date;
  readonly outcome: 'delivered' | 'failed' | 'gone';
  readonly status: number | null;
  readonly error: string | null;
  readonly durationMs: number;
  readonly request: object;
  readonly answer: object;
}

export interface WebhookLogPage {
  readonly subscription: WebhookId;
  /** The smallest sequence of the previous page. */
  readonly before?: bigint | undefined;
  readonly state?: WebhookEventState | undefined;
  readonly limit: number;
}

/** The statements on the tables of one schema, or on its views. */
function statementsOn(name: string, schema: string, relation: (table: string) => string) {
  const [event, attempt] = [`${schema}.${relation('event')}`, `${schema}.${relation('attempt')}`];
  const columns = `e.sequence, e.id, e.type, e.order_key AS "orderKey", e.payload, e.created_at AS "createdAt", e.state, e.attempts,
      e.finished_at AS "finishedAt", last.status AS "lastStatus", last.error AS "lastError"
    FROM ${event} e LEFT JOIN LATERAL (
      SELECT a.status, a.error FROM ${attempt} a WHERE a.event = e.sequence ORDER BY a.id DESC LIMIT 1) AS last ON true
    WHERE e.subscription = :subscription::uuid`;
  return {
    page: named<OrNull<WebhookLogPage>>(
      `${name}_webhook_events`,
      `SELECT ${columns} AND (:before::bigint IS NULL OR e.sequence < :before::bigint) AND (:state::text IS NULL OR e.state = :state)
        ORDER BY e.sequence DESC LIMIT :limit`,
    ),
    one: named<{ subscription: WebhookId; id: string }>(
      `${name}_webhook_event`,
      `SELECT ${columns} AND e.id = :id::uuid`,
    ),
    attempts: named<{ sequence: string }>(
      `${name}_webhook_attempts`,
      `SELECT at, outcome, status, error, duration_ms AS "durationMs", request, answer FROM ${attempt}
        WHERE event = :sequence::bigint ORDER BY id DESC LIMIT 100`,
    ),
  };
}

const OWN = statementsOn('portal', 'portal', (table) => `webhook_${table}`);
const ALL = statementsOn('operator', 'webhooks', (table) => table);

export interface OwnWebhook extends WebhookSubscription {
  /** Whether an event that waits was tried in vain, or the newest event was given up. */
  readonly isFailing: boolean;
}

const OWN_SUBSCRIPTIONS = named<object>(
  'portal_webhooks',
  `SELECT ${SUBSCRIPTION_COLUMNS}, s.waiting,
      EXISTS (SELECT FROM portal.webhook_event e WHERE e.subscription = s.id AND e.state = 'waiting' AND e.attempts > 0)
        OR coalesce((SELECT e.state = 'given-up' FROM portal.webhook_event e WHERE e.subscription = s.id
          ORDER BY e.sequence DESC LIMIT 1), false) AS "isFailing"
    FROM portal.webhook_subscription s ORDER BY s.created_at, s.id`,
);

type EventRow = Omit<LoggedEvent, 'sequence'> & { readonly sequence: string };

/** @param query of `PortalDatabase.asPartner` */
export async function readOwnWebhooks(query: Query): Promise<OwnWebhook[]> {
  return query<OwnWebhook & object>(OWN_SUBSCRIPTIONS({}));
}

export class WebhookLog {
  private constructor(
    private readonly query: Query,
    private readonly on: typeof OWN,
  ) {}

  /** @param query of `PortalDatabase.asPartner` */
  static ofPartner(query: Query): WebhookLog {
    return new WebhookLog(query, OWN);
  }

  /** For an operator. The log does not check which partner a subscription belongs to; the caller has to. */
  static ofAll(database: { query: Query }): WebhookLog {
    return new WebhookLog((statement) => database.query(statement), ALL);
  }

  async events({ subscription, before, state, limit }: WebhookLogPage): Promise<LoggedEvent[]> {
    const asked = orNull({ subscription, before, state, limit });
    const rows = await this.query<EventRow & object>(this.on.page(asked));
    return rows.map(eventOf);
  }

  /** The event with its newest attempts, newest first; undefined where the subscription has no such event. */
  async event(
    subscription: WebhookId,
    id: string,
  ): Promise<(LoggedEvent & { readonly history: readonly LoggedAttempt[] }) | undefined> {
    const [row] = await this.query<EventRow & object>(this.on.one({ subscription, id }));
    if (row === undefined) return undefined;
    const history = await this.query<LoggedAttempt & object>(
      this.on.attempts({ sequence: row.sequence }),
    );
    return { ...eventOf(row), history };
  }
}

function eventOf(row: EventRow): LoggedEvent {
  return { ...row, sequence: BigInt(row.sequence), payload: canonicalPayload(row.payload) };
}
