import { SqlMigration } from '../connection/schema-migration.js';

/** When a webhook was delivered something last: kept with the subscription, as its events are removed after a while. */
export class LastDelivery1760000000043 extends SqlMigration {
  /** What an older program delivers is not noted; the next delivery of a newer one is. */
  readonly olderMayStart = true;
  readonly upStatements = [UP];
  readonly downStatements = [
    `DROP VIEW portal.webhook_subscription; CREATE ${viewOf('')}
      ALTER TABLE webhooks.subscription DROP COLUMN last_delivered_at;`,
  ];
}

function viewOf(further: string): string {
  return `VIEW portal.webhook_subscription WITH (security_barrier) AS
  SELECT s.id, s.url, s.topics, s.stake_set, s.measure, s.days, s.thresholds, s.hysteresis, s.paused_at, s.paused_because, s.created_at,
    s.rotated_at,
    (SELECT coalesce(sum(l.waiting), 0) FROM webhooks.lane l WHERE l.subscription = s.id AND l.waiting > 0)::int AS waiting${further}
  FROM webhooks.subscription s
  WHERE s.partner = nullif(current_setting('lowmark.partner', true), '')::uuid AND s.removed_at IS NULL;
`;
}

/** What was delivered is read before the lock on the subscriptions, which redemptions look at. */
const UP = `
DO $$
DECLARE
  ids uuid[];
  times timestamptz[];
BEGIN
  SELECT array_agg(d.subscription), array_agg(d.at) INTO ids, times
    FROM (SELECT subscription, max(finished_at) AS at FROM webhooks.event WHERE state = 'delivered' GROUP BY subscription) AS d;
  ALTER TABLE webhooks.subscription ADD COLUMN last_delivered_at timestamptz;
  COMMENT ON COLUMN webhooks.subscription.last_delivered_at IS 'when an event was delivered last, to the second; null: none was';
  CREATE OR REPLACE ${viewOf(', s.last_delivered_at')}
  UPDATE webhooks.subscription s SET last_delivered_at = d.at FROM unnest(ids, times) AS d (id, at) WHERE s.id = d.id;
END $$`;
