/** Webhooks: what a partner may be told of, and how often an event is tried. The form is that of Standard Webhooks. */
import { CONFIRM_SCHEDULE, type RetrySchedule } from '../redemption/schedule.js';

/** What a subscription names; `redemption.*` stands for all events of redemptions. */
export const WEBHOOK_TOPICS = ['day.sealed', 'wallet.tier-changed', 'redemption.*'] as const;
export type WebhookTopic = (typeof WEBHOOK_TOPICS)[number];

/** By hand, to try an address; every subscription gets it. */
export const TEST_EVENT = 'webhook.test';

export const TIER_MEASURES = ['low', 'average', 'balance'] as const;
/** The low-water mark of the newest sealed day, the average of the lows of the last days, or the balance of the final block. */
export type TierMeasure = (typeof TIER_MEASURES)[number];

/** Where the tiers of wallets begin: a wallet is in the tier of the highest threshold that it reaches, or in tier 0. */
export interface TierRule {
  readonly measure: TierMeasure;
  /** Of the average, 2 to 30; 1 for the other measures. */
  readonly days: number;
  /** Ascending, in the token's smallest unit. */
  readonly thresholds: readonly bigint[];
  /** A wallet leaves a tier only with more than so much less than its threshold. */
  readonly hysteresis: bigint;
}

export const MOST_TIERS = 20;
export const LONGEST_AVERAGE_DAYS = 30;
/** The most that a token can count. */
const LARGEST_AMOUNT = 2n ** 256n - 1n;

/** What is wrong with a rule, and what to do; undefined where nothing is. */
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
 * The schedule that Standard Webhooks gives: ten attempts over 75 h 35 min, each wait up to a fifth longer. What has waited longer than
 * that gets one attempt, so that a backlog of days ends.
 */
export const WEBHOOK_SCHEDULE: RetrySchedule = {
  ...CONFIRM_SCHEDULE,
  withinMs: 91 * 3_600_000,
};

/** How an attempt ended. */
export type AttemptOutcome =
  | { readonly kind: 'delivered' }
  /** 410: the subscriber wants no more of it. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'failed'; readonly retryAfterSeconds?: number | undefined };

/** What the status of an answer means; a redirect is not followed. @see https://github.com/standard-webhooks/standard-webhooks */
export function attemptOutcome(status: number, retryAfterSeconds?: number): AttemptOutcome {
  if (status >= 200 && status < 300) return { kind: 'delivered' };
  return status === 410 ? { kind: 'gone' } : { kind: 'failed', retryAfterSeconds };
}
