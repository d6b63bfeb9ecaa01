/** The options of the commands on webhooks, and how they become a rule for tiers. */
import { InvalidArgumentError } from 'commander';
import {
  LONGEST_AVERAGE_DAYS,
  TIER_MEASURES,
  type TierMeasure,
  WEBHOOK_TOPICS,
  type WebhookTopic,
} from '#libs/domain';
import { LONGEST_OVERLAP_HOURS, type TierRuleChange } from '#libs/operations';
import { argument, expecting, oneOf, option, positiveInteger } from '../options.js';

export const WEBHOOK = argument('<webhook>', 'its id, as `partner webhook list` shows it');

export interface TermOptions {
  readonly url?: string;
  readonly topics?: readonly WebhookTopic[];
  readonly measure?: TierMeasure;
  readonly days?: number;
  readonly thresholds?: readonly bigint[];
  readonly hysteresis?: bigint;
  readonly allowPrivate?: boolean;
}

export const URL_OPTION = ['--url <url>', 'where to: https://…, public, without a query'] as const;
export const TOPICS_OPTION = [
  '--topics <list>',
  `what the partner is told of, separated by commas: ${WEBHOOK_TOPICS.join(', ')}`,
  topicList,
] as const;

export const RULE_OPTIONS = [
  option(
    '--measure <name>',
    'what decides a wallet’s tier: low (the low-water mark of the newest sealed day), average (of the lows of --days days) or balance (at the newest final block)',
    oneOf(TIER_MEASURES),
  ),
  option(
    '--days <number>',
    `with --measure average: of how many days, 2 to ${LONGEST_AVERAGE_DAYS}`,
    positiveInteger,
  ),
  option(
    '--thresholds <list>',
    'where the tiers begin, ascending, separated by commas, in the smallest unit of the token',
    amountList,
  ),
  option(
    '--hysteresis <amount>',
    'how far below the threshold of its tier a wallet may fall and still stay in it (default: 0); with a threshold of 1000 and a hysteresis of 100 a wallet comes into the tier at 1000 and leaves it below 900',
    amount,
  ),
  option('--allow-private', 'development: also http, and addresses that are not public'),
];

/** The change of the tier rule; undefined where none of its options was given. */
export function tierRuleChangeOf(given: TermOptions): TierRuleChange | undefined {
  const { measure, days, thresholds, hysteresis } = given;
  if ([measure, days, thresholds, hysteresis].every((one) => one === undefined)) return undefined;
  return { measure, days, thresholds, hysteresis };
}

export const utcTime = expecting(
  'a UTC time: 2026-11-21 or 2026-11-21T10:00:00Z.',
  (text): Date | undefined => {
    const at = new Date(text);
    const isTime = /^\d{4}-\d{2}-\d{2}(T[\d:.]+Z)?$/.test(text) && !Number.isNaN(at.getTime());
    return isTime ? at : undefined;
  },
);

export function overlapHours(text: string): number {
  const hours = text === '0' ? 0 : positiveInteger(text);
  if (hours > LONGEST_OVERLAP_HOURS) {
    throw new InvalidArgumentError(`Expected ${LONGEST_OVERLAP_HOURS} hours at most.`);
  }
  return hours;
}

function topicList(text: string): WebhookTopic[] {
  return text.split(',').map((one) => {
    const topic = WEBHOOK_TOPICS.find((known) => known === one.trim());
    if (topic === undefined) {
      throw new InvalidArgumentError(`Expected some of ${WEBHOOK_TOPICS.join(', ')}.`);
    }
    return topic;
  });
}

function amount(text: string): bigint {
  if (/^\d{1,78}$/.test(text)) return BigInt(text);
  throw new InvalidArgumentError('Expected a whole number in the smallest unit of the token.');
}

function amountList(text: string): bigint[] {
  return text.split(',').map((one) => amount(one.trim()));
}
