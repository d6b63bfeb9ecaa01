/**
 * Webhooks: the topics of a subscription, and the retry schedule of an event. The format of webhooks is that of
 * Standard Webhooks.
 */
import { CONFIRM_SCHEDULE, type RetrySchedule } from '../redemption/schedule.js';

/** Topics that a subscription can name; `redemption.*` stands for all events of redemptions. */
export const WEBHOOK_TOPICS = ['day.sealed', 'redemption.*', 'answers.corrected'] as const;
export type WebhookTopic = (typeof WEBHOOK_TOPICS)[number];

/** Event that an operator sends by hand to test the address of a subscription, whatever its topics. */
export const TEST_EVENT = 'webhook.test';

/**
 * The retry schedule of Standard Webhooks: ten attempts over 75 h 35 min, where jitter makes each wait up to a fifth
 * longer. An event that has waited longer than `withinMs` gets one attempt, so that a backlog of days comes to an end.
 */
export const WEBHOOK_SCHEDULE: RetrySchedule = {
  ...CONFIRM_SCHEDULE,
  withinMs: 91 * 3_600_000,
};

export type AttemptOutcome =
  | { readonly kind: 'delivered' }
  /** Status 410: the subscriber wants no more events. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'failed'; readonly retryAfterSeconds?: number | undefined };

/**
 * The meaning of the status of an answer. A redirect is not followed, and counts as failed.
 * @see https://github.com/standard-webhooks/standard-webhooks
 */
export function attemptOutcome(status: number, retryAfterSeconds?: number): AttemptOutcome {
  if (status >= 200 && status < 300) return { kind: 'delivered' };
  return status === 410 ? { kind: 'gone' } : { kind: 'failed', retryAfterSeconds };
}
