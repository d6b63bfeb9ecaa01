/** The options of the commands on webhooks. */
import { InvalidArgumentError } from 'commander';
import { WEBHOOK_TOPICS, type WebhookTopic } from '#libs/domain';
import { LONGEST_OVERLAP_HOURS } from '#libs/operations';
import { argument, expecting, option, positiveInteger } from '../options.js';

export const WEBHOOK = argument('<webhook>', 'its id, as `partner webhook list` shows it');

export interface TermOptions {
  readonly url?: string;
  readonly topics?: readonly WebhookTopic[];
  readonly allowPrivate?: boolean;
}

export const URL_OPTION = ['--url <url>', 'where to: https://…, public, without a query'] as const;
export const TOPICS_OPTION = [
  '--topics <list>',
  `what the partner is told of, separated by commas: ${WEBHOOK_TOPICS.join(', ')}`,
  topicList,
] as const;

export const ALLOW_PRIVATE = option(
  '--allow-private',
  'development: also http, and addresses that are not public',
);

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
