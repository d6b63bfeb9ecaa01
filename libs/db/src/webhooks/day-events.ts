/**
 * Events of the topic `day.sealed`: one for each day and revision that was sealed since the subscription was created.
 */
import { type Database, run } from '../connection/database.js';
import { named } from '../connection/named.js';

/** One process at a time writes the events of a stake set. */
const LOCK = named<{ set: string }>(
  'webhook_days_lock',
  'SELECT pg_try_advisory_xact_lock(4223, hashtext(:set)) AS locked',
);

/** A sealed day is final and never changed, so it is its own outbox: days that are not in told_day have no events yet. */
const TELL = named<{ set: string; limit: number }>(
  'webhook_tell_days',
  `WITH untold AS MATERIALIZED (
      SELECT s.* FROM staking.sealed_day s
      WHERE NOT EXISTS (SELECT FROM webhooks.told_day t WHERE (t.stake_set, t.day, t.revision) = (:set, s.day, s.revision))
      ORDER BY s.sealed_at, s.day, s.revision LIMIT :limit
    ), noted AS (
      INSERT INTO webhooks.told_day (stake_set, day, revision) SELECT :set, day, revision FROM untold
    ), told AS (
      INSERT INTO webhooks.event (subscription, type, order_key, payload)
      SELECT w.id, 'day.sealed', '', jsonb_build_object('type', 'day.sealed', 'timestamp', webhooks.iso(u.sealed_at),
          'data', jsonb_strip_nulls(jsonb_build_object('stakeSet', :set::text, 'day', to_char(date '1970-01-01' + u.day, 'YYYY-MM-DD'),
            'revision', u.revision, 'root', '0x' || encode(u.root, 'hex'), 'previousRoot', '0x' || encode(u.previous_root, 'hex'),
            'wallets', u.wallets, 'total', u.total::text, 'tokenDecimals', i.token_decimals,
            'blockNumber', u.block_number, 'blockHash', '0x' || encode(u.block_hash, 'hex'))))::text
      FROM untold u CROSS JOIN staking.index_state i
      JOIN webhooks.subscription w ON w.stake_set = :set AND w.removed_at IS NULL AND 'day.sealed' = ANY (w.topics)
        AND u.sealed_at > w.created_at
      ORDER BY u.sealed_at, u.day, u.revision, w.id
      RETURNING 1
    )
    SELECT (SELECT count(*) FROM untold)::int AS days, (SELECT count(*) FROM told)::int AS events`,
);

/** Days in one transaction. After the first sync there may be years of them. */
const DAYS_AT_ONCE = 500;

export class DayEvents {
  constructor(
    private readonly database: Database,
    private readonly set: string,
  ) {}

  /**
   * Writes the events of all days that have none yet, unless another process is doing so.
   * @returns number of events that were written
   */
  async tell(): Promise<number> {
    const { set } = this;
    let written = 0;
    for (let days = DAYS_AT_ONCE; days === DAYS_AT_ONCE;) {
      days = await this.database.transaction(async (client) => {
        const [lock] = await run<{ locked: boolean }>(client, LOCK({ set }));
        if (lock?.locked !== true) return 0;
        const tell = TELL({ set, limit: DAYS_AT_ONCE });
        const [told] = await run<{ days: number; events: number }>(client, tell);
        written += told?.events ?? 0;
        return told?.days ?? 0;
      });
    }
    return written;
  }
}
