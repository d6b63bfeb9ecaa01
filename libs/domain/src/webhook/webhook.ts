/**
 * Webhooks: the topics of a subscription, its rules for tiers, and the retry schedule of an event. The format of
 * webhooks is that of Standard Webhooks.
 */
import { CONFIRM_SCHEDULE, type RetrySchedule } from '../redemption/schedule.js';

/** Topics that a subscription can name; `redemption.*` stands for all events of redemptions. */
export const WEBHOOK_TOPICS = [
  'day.sealed',
  'wallet.tier-changed',
  'redemption.*',
  'answers.corrected',
] as const;
export type WebhookTopic = (typeof WEBHOOK_TOPICS)[number];

/** Event that an operator sends by hand to test the address of a subscription, whatever its topics. */
export const TEST_EVENT = 'webhook.test';

export const TIER_MEASURES = ['low', 'average', 'balance'] as const;
/**
 * The low-water mark of the newest sealed day, the average of the low-water marks of the last days, or the balance at
 * the final block.
 */
export type TierMeasure = (typeof TIER_MEASURES)[number];

/** The tiers of wallets: a wallet is in the tier of the highest threshold that it reaches, or in tier 0. */
export interface TierRule {
  readonly measure: TierMeasure;
  /** Days of the average, 2 to 30; 1 for the other measures. */
  readonly days: number;
  /** Ascending, in the token's smallest unit. */
  readonly thresholds: readonly bigint[];
  /**
   * A wallet leaves a tier only when it is below the threshold by more than this amount, in the token's smallest unit.
   */
  readonly hysteresis: bigint;
}

export const MOST_TIERS = 20;
export const LONGEST_AVERAGE_DAYS = 30;
/** The largest amount of a token: a uint256. */
const LARGEST_AMOUNT = 2n ** 256n - 1n;

/** Describes what is wrong with a rule, and what to do; undefined for a valid rule. */
export function tierRuleFault(rule: TierRule): string | undefined {
  const { measure, days, thresholds, hysteresis } = rule;
  const [first] = thresholds;
  if (first === undefined || thresholds.length > MOST_TIERS) {
    return `A rule for tiers needs 1 to ${MOST_TIERS} thresholds.`;
  }
  if (first <= 0n || thresholds.some((one) => one > LARGEST_AMOUNT)) {
    return 'A threshold is above 0 and below 2^256.';
  }
  if (thresholds.some((one, place) => place > 0 && one <= (thresholds[place - 1] ?? 0n))) {
    return 'Thresholds are given in ascending order, each once.';
  }
  if (hysteresis < 0n || hysteresis >= first) {
    return 'The hysteresis is 0 or more, and less than the first threshold.';
  }
  if (!Number.isInteger(days)) return 'Days are a whole number.';
  if (measure === 'average') {
    const isLong = days >= 2 && days <= LONGEST_AVERAGE_DAYS;
    return isLong ? undefined : `An average is of 2 to ${LONGEST_AVERAGE_DAYS} days.`;
  }
  return days === 1 ? undefined : 'Only an average has days.';
}

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
