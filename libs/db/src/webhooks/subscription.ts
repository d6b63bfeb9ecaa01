import { PermanentError, type TierRule, type WebhookId, type WebhookTopic } from '#libs/domain';
import { type Nullable, type RowOf } from '../rows.js';

export const PAUSED_BECAUSE = ['partner', 'operator', 'gone'] as const;
/** Who paused the webhook; `gone` where its address answered 410. */
export type PausedBecause = (typeof PAUSED_BECAUSE)[number];

export interface SubscriptionTerms {
  readonly url: string;
  readonly topics: readonly WebhookTopic[];
  /** Rule for the topic `wallet.tier-changed`, and set only with this topic. */
  readonly rule: TierRule | undefined;
}

/** A webhook: its address, and the topics of its events. See webhooks.subscription. */
export interface WebhookSubscription extends SubscriptionTerms {
  readonly id: WebhookId;
  /** The stake set of the sealed days and tiers in its events. */
  readonly stakeSet: string;
  readonly pausedAt: Date | null;
  readonly pausedBecause: PausedBecause | null;
  readonly createdAt: Date;
  readonly rotatedAt: Date | null;
  /** Exact to the second; null where nothing was delivered yet. */
  readonly lastDeliveredAt: Date | null;
  /** Number of events that are neither delivered nor given up. */
  readonly waiting: number;
}

/** The columns of a SubscriptionRow, from webhooks.subscription or its view in the portal. */
export const SUBSCRIPTION_COLUMNS = `s.id, s.url, to_json(s.topics) AS topics, s.stake_set AS "stakeSet", s.measure, s.days,
  s.thresholds::text[] AS thresholds, s.hysteresis::text AS hysteresis, s.paused_at AS "pausedAt", s.paused_because AS "pausedBecause",
  s.created_at AS "createdAt", s.rotated_at AS "rotatedAt", s.last_delivered_at AS "lastDeliveredAt"`;

/** All of these columns are null where there is no rule. */
export type RuleColumns = Nullable<
  RowOf<Omit<TierRule, 'thresholds'>> & { thresholds: readonly string[] }
>;

export type SubscriptionRow = Omit<WebhookSubscription, 'rule'> & RuleColumns;

export function subscriptionOf(row: SubscriptionRow): WebhookSubscription {
  const { measure, days, thresholds, hysteresis, ...others } = row;
  const hasRule = measure !== null && days !== null && thresholds !== null && hysteresis !== null;
  const rule = hasRule
    ? { measure, days, thresholds: thresholds.map(BigInt), hysteresis: BigInt(hysteresis) }
    : undefined;
  return { ...others, rule };
}

/** Maximum number of webhooks of a partner. */
export const MOST_SUBSCRIPTIONS = 10;

export class WebhookMissingError extends PermanentError {
  constructor() {
    super('WEBHOOK_MISSING', 'The partner has no webhook with this id; the list shows them.');
  }
}

export class TooManyWebhooksError extends PermanentError {
  constructor() {
    super(
      'TOO_MANY_WEBHOOKS',
      `A partner has ${MOST_SUBSCRIPTIONS} webhooks at most. Remove one that is not used.`,
    );
  }
}

export class WebhookEventMissingError extends PermanentError {
  constructor() {
    super('WEBHOOK_EVENT_MISSING', 'The webhook has no event with this id; the log shows them.');
  }
}
