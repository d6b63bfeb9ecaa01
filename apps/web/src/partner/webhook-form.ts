import { type ConsoleBody } from '../api/console-client';

export type Webhook = ConsoleBody<'Webhook'>;
export type Topic = Webhook['topics'][number];

export const TOPICS: readonly Topic[] = ['day.sealed', 'redemption.*', 'answers.corrected'];

export interface WebhookForm {
  readonly url: string;
  readonly topics: readonly Topic[];
}

export function formOf(webhook: WebhookForm | undefined): WebhookForm {
  return { url: webhook?.url ?? '', topics: webhook?.topics ?? [] };
}

export type WebhookWish =
  | { readonly body: { readonly url: string; readonly topics: Topic[] } }
  /** One sentence about the invalid value. */
  | { readonly fault: string };

/** The request to send, or the fault in the typed values; the server validates the URL. */
export function wishOf(form: WebhookForm): WebhookWish {
  const topics = [...form.topics];
  if (topics.length === 0) return { fault: 'Choose one topic at least.' };
  return { body: { url: form.url.trim(), topics } };
}
