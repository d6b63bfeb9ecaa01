import { TIER_MEASURES, type TierMeasure, tierRuleFault } from '#libs/domain';
import { type ConsoleBody } from '../api/console-client';

export type Webhook = ConsoleBody<'Webhook'>;
export type Topic = Webhook['topics'][number];
type Rule = ConsoleBody<'TierRule'>;

export const TOPICS: readonly Topic[] = [
  'day.sealed',
  'wallet.tier-changed',
  'redemption.*',
  'answers.corrected',
];
const AMOUNT = /^\d{1,78}$/;

export interface WebhookForm {
  readonly url: string;
  readonly topics: readonly Topic[];
  readonly measure: TierMeasure;
  readonly days: string;
  /** One threshold per line. */
  readonly thresholds: string;
  readonly hysteresis: string;
}

export function formOf(webhook: Pick<Webhook, 'url' | 'topics' | 'rule'> | undefined): WebhookForm {
  const rule = webhook?.rule ?? undefined;
  return {
    url: webhook?.url ?? '',
    topics: webhook?.topics ?? [],
    measure: rule?.measure ?? 'low',
    days: rule?.measure === 'average' ? String(rule.days) : '7',
    thresholds: rule?.thresholds.join('\n') ?? '',
    hysteresis: rule?.hysteresis ?? '0',
  };
}

export function hasTiers({ topics }: Pick<WebhookForm, 'topics'>): boolean {
  return topics.includes('wallet.tier-changed');
}

export function measureOf(text: string | null): TierMeasure | undefined {
  return TIER_MEASURES.find((one) => one === text);
}

export type WebhookWish =
  | { readonly body: { readonly url: string; readonly topics: Topic[]; readonly rule?: Rule } }
  /** One sentence about the invalid value. */
  | { readonly fault: string };

/** The request to send, or the fault in the typed values; the server validates the URL. */
export function wishOf(form: WebhookForm): WebhookWish {
  const terms = { url: form.url.trim(), topics: [...form.topics] };
  if (terms.topics.length === 0) return { fault: 'Choose one topic at least.' };
  if (!hasTiers(form)) return { body: terms };
  const thresholds = form.thresholds.split(/[\s,;]+/).filter((one) => one !== '');
  const hysteresis = form.hysteresis.trim();
  if (![...thresholds, hysteresis].every((one) => AMOUNT.test(one))) {
    return { fault: 'Thresholds and hysteresis are whole numbers, in digits only.' };
  }
  const { measure } = form;
  const days = measure === 'average' ? Number(form.days) : 1;
  const fault = tierRuleFault({
    ...{ measure, days, thresholds: thresholds.map(BigInt), hysteresis: BigInt(hysteresis) },
  });
  if (fault !== undefined) return { fault };
  return { body: { ...terms, rule: { measure, days, thresholds, hysteresis } } };
}
