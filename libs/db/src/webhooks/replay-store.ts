/** Events that are sent again, or sooner, and those that only try an address. */
import { type Database, run, type Statement } from '../connection/database.js';
import { named } from '../connection/named.js';
import { auditPartner, type PartnerAudit } from '../partners/partner-changes.js';
import { WebhookEventMissingError, WebhookMissingError } from './subscription.js';
import { HASTEN, lockSubscription } from './subscription-store.js';

/** One event, or all of a time. */
export type ReplayWish =
  | { readonly event: string }
  | {
      /** Those that were made then or later. */
      readonly since: Date;
      /** Also those that were delivered; else those that were given up. */
      readonly delivered: boolean;
    };

interface Replay {
  readonly id: string;
  readonly event: string | null;
  readonly since: Date | null;
  readonly delivered: boolean;
  /** What has waited again since then was replayed already. */
  readonly before: Date;
  readonly limit: number;
}

// The events first, as the end of an attempt has it.
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

const TEST = named<{ id: string; type: string; payload: string }>(
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

/** So many in one transaction. */
const PAGE = 5000;

export class ReplayStore {
  constructor(
    private readonly database: Database,
    private readonly pageSize = PAGE,
  ) {}

  /**
   * They wait again, in the order in which they were made, before what was made later; in pieces, each of which stays done. What waits
   * already is tried at once.
   * @returns how many were meant, or are sent again
   * @throws WebhookMissingError; WebhookEventMissingError where one was meant and is not there
   */
  async replay(
    partnerId: string,
    id: string,
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
    for (let count = this.pageSize; count === this.pageSize; total += count) {
      count = await this.database.transaction(async (client, manager) => {
        await lockSubscription(client, partnerId, id);
        const [found] = await run<{ count: number; waits: boolean }>(client, REPLAY(replay));
        if (found === undefined || (isOne && found.count === 0 && !found.waits)) {
          throw new WebhookEventMissingError();
        }
        if (total === 0) {
          await run(client, HASTEN({ id }));
          await auditPartner(manager, partnerId, audit);
        }
        return isOne ? 1 : found.count;
      });
    }
    return total;
  }

  /** One that waits already is tried at once. @returns its id @throws WebhookMissingError */
  async addTest(
    partnerId: string,
    test: { readonly id: string; readonly type: string; readonly payload: string },
    audit: PartnerAudit,
  ): Promise<string> {
    return this.database.transaction(async (client, manager) => {
      await lockSubscription(client, partnerId, test.id);
      const [row] = await run<{ id: string }>(client, TEST(test));
      if (row === undefined) throw new WebhookMissingError();
      await run(client, HASTEN({ id: test.id }));
      await auditPartner(manager, partnerId, audit);
      return row.id;
    });
  }
}
