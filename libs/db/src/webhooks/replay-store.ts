/** Sends events again or sooner, and adds test events, which only try an address. */
import { type PartnerId, type WebhookId } from '#libs/domain';
import { type Database, run } from '../connection/database.js';
import { named, type Statement } from '../connection/named.js';
import { auditPartner, type PartnerAudit } from '../partners/partner-changes.js';
import { WebhookEventMissingError, WebhookMissingError } from './subscription.js';
import { HASTEN, lockSubscription } from './subscription-store.js';

/** One event, or all events since a moment. */
export type ReplayWish =
  | { readonly event: string }
  | {
      /** Events that were created at this moment or later. */
      readonly since: Date;
      /** True: also events that were delivered. False: only events that were given up. */
      readonly delivered: boolean;
    };

interface Replay {
  readonly id: WebhookId;
  readonly event: string | null;
  readonly since: Date | null;
  readonly delivered: boolean;
  /** An event that has waited again since this moment was already replayed. */
  readonly before: Date;
  readonly limit: number;
}

// Locks events before lanes, like the statement that ends an attempt.
const REPLAY = named<Replay>(
  'webhook_replay',
  `WITH picked AS MATERIALIZED (
      SELECT sequence, subscription, order_key FROM webhooks.event
      WHERE subscription = :id::uuid AND state <> 'waiting' AND waiting_since < :before
        AND CASE WHEN :event::uuid IS NOT NULL THEN id = :event::uuid
          ELSE created_at >= :since::timestamptz AND (:delivered OR state = 'given-up') END
      ORDER BY sequence LIMIT :limit FOR UPDATE
    ), replayed AS (
      UPDATE webhooks.event e SET state = 'waiting', waiting_since = clock_timestamp(), attempts = 0, finished_at = NULL
      FROM picked WHERE e.sequence = picked.sequence RETURNING e.sequence, e.subscription, e.order_key
    ), queued AS (
      INSERT INTO webhooks.lane AS l (subscription, order_key, waiting, next_attempt_at)
      SELECT subscription, order_key, count(*), now() FROM replayed GROUP BY 1, 2 ORDER BY 2
      ON CONFLICT (subscription, order_key) DO UPDATE SET waiting = l.waiting + excluded.waiting, next_attempt_at = now()
    )
    SELECT (SELECT count(*)::int FROM replayed) AS count,
      EXISTS (SELECT FROM webhooks.event WHERE id = :event::uuid AND subscription = :id::uuid AND state = 'waiting') AS waits`,
);

const TEST = named<{ id: WebhookId; type: string; payload: string }>(
  'webhook_test',
  `WITH waiting AS (
      SELECT id FROM webhooks.event WHERE subscription = :id::uuid AND order_key = :type AND state = 'waiting' LIMIT 1
    ), added AS (
      INSERT INTO webhooks.event (subscription, type, order_key, payload)
      SELECT :id::uuid, :type, :type, :payload WHERE NOT EXISTS (SELECT FROM waiting) RETURNING id
    )
    SELECT id FROM waiting UNION ALL SELECT id FROM added`,
);

const NOW: Statement = { name: 'webhook_now', text: 'SELECT clock_timestamp() AS now' };

/** Maximum number of events in one transaction. */
const PAGE = 5000;

export class ReplayStore {
  constructor(
    private readonly database: Database,
    private readonly pageSize = PAGE,
  ) {}

  /**
   * Makes events wait again, in the order in which they were created and before later events. Each page is a
   * transaction, which stays committed if a later one fails. Events that already wait are tried at once.
   * @returns number of events that are sent again; 1 for a single event, even where it already waits
   * @throws WebhookMissingError; WebhookEventMissingError where a single event does not exist
   */
  async replay(
    partnerId: PartnerId,
    id: WebhookId,
    wish: ReplayWish,
    audit: PartnerAudit,
  ): Promise<number> {
    const [row] = await this.database.query<{ now: Date }>(NOW);
    const isOne = 'event' in wish;
    const replay = {
      ...{ id, before: row?.now ?? new Date(0), limit: this.pageSize },
      event: isOne ? wish.event : null,
      since: isOne ? null : wish.since,
      delivered: !isOne && wish.delivered,
    };
    let total = 0;
    let count: number;
    do {
      count = await this.database.transaction(async (client) => {
        await lockSubscription(client, partnerId, id);
        const [found] = await run<{ count: number; waits: boolean }>(client, REPLAY(replay));
        if (found === undefined || (isOne && found.count === 0 && !found.waits)) {
          throw new WebhookEventMissingError();
        }
        if (total === 0) {
          await run(client, HASTEN({ id }));
          await auditPartner(client, partnerId, audit);
        }
        return isOne ? 1 : found.count;
      });
      total += count;
    } while (!isOne && count === this.pageSize);
    return total;
  }

  /**
   * Adds a test event; one that already waits is tried at once instead.
   * @returns id of the event
   * @throws WebhookMissingError
   */
  async addTest(
    partnerId: PartnerId,
    test: { readonly id: WebhookId; readonly type: string; readonly payload: string },
    audit: PartnerAudit,
  ): Promise<string> {
    return this.database.transaction(async (client) => {
      await lockSubscription(client, partnerId, test.id);
      const [row] = await run<{ id: string }>(client, TEST(test));
      if (row === undefined) throw new WebhookMissingError();
      await run(client, HASTEN({ id: test.id }));
      await auditPartner(client, partnerId, audit);
      return row.id;
    });
  }
}
