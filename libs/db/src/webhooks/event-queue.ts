/**
 * The queue of events. A lease is on a lane, the events of one subscription with one order key. The oldest event
 * of the lane is sent, and no other one until this event is delivered or given up. A process that is killed loses
 * its leases, but no event.
 */
import { canonicalJson, type UuidV7 } from '#libs/domain';
import { type Database } from '../connection/database.js';
import { named, type Statement } from '../connection/named.js';
import {
  type AttemptEnd,
  AttemptOutcomeWriter,
  type DueEvent,
  FAILING,
} from './attempt-outcome-writer.js';

export interface LaneLease {
  /** Maximum number of lanes. */
  readonly count: number;
  readonly owner: string;
  readonly leaseMs: number;
  /** Leases lanes that are due by then. Default: now, by the database's clock. */
  readonly dueBy?: Date | undefined;
  /** Maximum number of leased lanes of one subscription, over all processes. */
  readonly perSubscription: number;
  /** Maximum number of leased lanes of all subscriptions of a partner together, over all processes. */
  readonly perPartner: number;
}

const LEASE = named<{
  count: number;
  owner: string;
  leaseMs: number;
  dueBy: Date | null;
  perSubscription: number;
  perPartner: number;
}>(
  'webhook_lease',
  `WITH under_way AS (
      SELECT s.id, s.partner, s.failures, s.paused_at IS NULL AND s.removed_at IS NULL AS is_sent,
        (SELECT count(*) FROM webhooks.lane l WHERE l.subscription = s.id AND l.leased_until > now()) AS leased
      FROM webhooks.subscription s
    ), room AS (
      SELECT id, partner, is_sent, greatest(0, CASE WHEN failures >= ${FAILING} THEN 1 ELSE :perSubscription::int END - leased) AS free,
        greatest(0, :perPartner::int - sum(leased) OVER (PARTITION BY partner)) AS free_of_partner
      FROM under_way
    ), due AS MATERIALIZED (
      SELECT found.*, room.free_of_partner,
        row_number() OVER (PARTITION BY room.partner ORDER BY found.next_attempt_at) AS place
      FROM room CROSS JOIN LATERAL (
        SELECT l.subscription, l.order_key, l.next_attempt_at FROM webhooks.lane l
        WHERE l.subscription = room.id AND l.waiting > 0 AND l.next_attempt_at <= coalesce(:dueBy::timestamptz, now())
          AND (l.leased_until IS NULL OR l.leased_until <= now())
        ORDER BY l.next_attempt_at LIMIT least(room.free, room.free_of_partner) FOR UPDATE SKIP LOCKED) AS found
      WHERE room.is_sent
    ), picked AS (
      SELECT * FROM due WHERE place <= free_of_partner ORDER BY next_attempt_at LIMIT :count::int
    )
    UPDATE webhooks.lane l SET leased_until = now() + :leaseMs * interval '1 millisecond', lease_owner = :owner::uuid
    FROM picked WHERE (l.subscription, l.order_key) = (picked.subscription, picked.order_key)
    RETURNING l.subscription, l.order_key AS "orderKey"`,
);

// A statement of its own, so that it sees what the previous holders of the leases have committed.
const HEADS = named<{ subscriptions: readonly string[]; orderKeys: readonly string[] }>(
  'webhook_heads',
  `SELECT e.sequence, e.id, e.subscription, e.order_key AS "orderKey", e.type, e.payload, e.waiting_since AS "waitingSince", e.attempts,
      s.url, ARRAY(SELECT k.ciphertext FROM webhooks.secret k WHERE k.subscription = s.id AND (k.ends_at IS NULL OR k.ends_at > now())
        ORDER BY k.created_at DESC, k.id) AS secrets
    FROM unnest(:subscriptions::uuid[], :orderKeys::text[]) AS leased(subscription, order_key)
    JOIN webhooks.subscription s ON s.id = leased.subscription
    CROSS JOIN LATERAL (SELECT * FROM webhooks.event o WHERE o.subscription = leased.subscription
      AND o.order_key = leased.order_key AND o.state = 'waiting' ORDER BY o.sequence LIMIT 1) AS e`,
);

const RELEASE = named<{ subscription: string; orderKey: string; owner: string }>(
  'webhook_release',
  `UPDATE webhooks.lane SET leased_until = NULL, lease_owner = NULL
    WHERE subscription = :subscription::uuid AND order_key = :orderKey AND lease_owner = :owner::uuid`,
);

const STANDING: Statement = {
  name: 'webhook_standing',
  text: `SELECT coalesce(extract(epoch FROM clock_timestamp() - min(e.created_at)), 0)::float8 AS "oldestSeconds",
      (count(*) FILTER (WHERE e.created_at < now() - interval '1 hour'))::int AS "waitingAnHour", count(*)::int AS waiting,
      (SELECT count(*) FROM webhooks.event g WHERE g.state = 'given-up' AND g.finished_at > now() - interval '1 day')::int AS "givenUp"
    FROM webhooks.event e JOIN webhooks.subscription s ON s.id = e.subscription
    WHERE e.state = 'waiting' AND s.paused_at IS NULL AND s.removed_at IS NULL`,
};

export interface QueueStanding {
  /** Number of waiting events of the subscriptions that are neither paused nor removed. */
  readonly waiting: number;
  /** Number of those that are older than an hour. */
  readonly waitingAnHour: number;
  /** Age of the oldest of them. */
  readonly oldestSeconds: number;
  /** Number of events of all subscriptions that were given up in the last day: a pause later does not undo that. */
  readonly givenUp: number;
}

type Lane = Pick<DueEvent, 'subscription' | 'orderKey'>;

function isSameLane(one: Lane, other: Lane): boolean {
  return one.subscription === other.subscription && one.orderKey === other.orderKey;
}

type DueRow = Omit<DueEvent, 'sequence'> & { readonly sequence: string };

export class EventQueue {
  private readonly ends: AttemptOutcomeWriter;

  constructor(private readonly database: Database) {
    this.ends = new AttemptOutcomeWriter(database);
  }

  async lease({ dueBy, ...lease }: LaneLease): Promise<DueEvent[]> {
    const lanes = await this.database.query<Lane & object>(
      LEASE({ ...lease, dueBy: dueBy ?? null }),
    );
    if (lanes.length === 0) return [];
    const rows = await this.database.query<DueRow & object>(
      HEADS({
        subscriptions: lanes.map(({ subscription }) => subscription),
        orderKeys: lanes.map(({ orderKey }) => orderKey),
      }),
    );
    // An event may have been ended meanwhile, by a process whose lease had run out.
    const ended = lanes.filter((lane) => !rows.some((row) => isSameLane(lane, row)));
    for (const lane of ended) await this.release(lane, lease.owner);
    return rows.map((row) => ({
      ...row,
      sequence: BigInt(row.sequence),
      payload: canonicalPayload(row.payload),
    }));
  }

  /** Releases the lane, from which nothing was sent. The lane stays due as before. */
  async release({ subscription, orderKey }: Lane, owner: string): Promise<void> {
    await this.database.query(RELEASE({ subscription, orderKey, owner }));
  }

  /** @throws DatabaseUnavailableError, DatabaseRefusedError; the event is sent again when the lease ends */
  end(end: AttemptEnd): Promise<void> {
    return this.ends.add(end);
  }

  async standing(): Promise<QueueStanding> {
    const [row] = await this.database.query<QueueStanding & object>(STANDING);
    return row ?? { waiting: 0, waitingAnHour: 0, oldestSeconds: 0, givenUp: 0 };
  }
}

/**
 * The payload as it is sent: PostgreSQL prints jsonb with blanks and in its own order of keys. Whole numbers in a
 * payload are below 2^53.
 */
export function canonicalPayload(text: string): string {
  try {
    return canonicalJson(JSON.parse(text));
  } catch {
    // No program of this project wrote this text. It is sent as it is, so that it does not hold up other events.
    return text;
  }
}

/** The `webhook-id` of an event. */
export function messageId(id: string | UuidV7): string {
  return `msg_${id.replaceAll('-', '')}`;
}
