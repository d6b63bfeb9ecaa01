import { PermanentError, type WebhookId, type WebhookTopic } from '#libs/domain';

export const PAUSED_BECAUSE = ['partner', 'operator', 'gone'] as const;
/** Who paused the webhook; `gone` where its address answered 410. */
export type PausedBecause = (typeof PAUSED_BECAUSE)[number];

export interface SubscriptionTerms {
  readonly url: string;
  readonly topics: readonly WebhookTopic[];
}

/** A webhook: its address, and the topics of its events. See webhooks.subscription. */
export interface WebhookSubscription extends SubscriptionTerms {
  readonly id: WebhookId;
  /** The stake set of the sealed days in its events. */
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

/** The columns of a WebhookSubscription but `waiting`, from webhooks.subscription or its view in the portal. */
export const SUBSCRIPTION_COLUMNS = `s.id, s.url, to_json(s.topics) AS topics, s.stake_set AS "stakeSet", s.paused_at AS "pausedAt",
  s.paused_because AS "pausedBecause", s.created_at AS "createdAt", s.rotated_at AS "rotatedAt",
  s.last_delivered_at AS "lastDeliveredAt"`;

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
