/** The webhooks of partners. Operators set them by commands, partners on their pages. */
import { randomUUID } from 'node:crypto';
import {
  type Database,
  type PausedBecause,
  type ReplayWish,
  ReplayStore,
  type SubscriptionTerms,
  SubscriptionStore,
  WebhookEventMissingError,
  WebhookMissingError,
} from '#libs/db';
import {
  parseWebhookId,
  type PartnerId,
  TEST_EVENT,
  type WebhookId,
  type WebhookTopic,
} from '#libs/domain';
import { parsePartnerUrl } from '#libs/partner-client';
import { type Clock } from '#libs/platform';
import { type KeyRing, mintWebhookSecret, webhookSealContext } from '#libs/signing';
import { onPartner, type Operator } from '../audit/audited.js';
import { OptionError } from '../operation.error.js';

export interface WebhookChoice {
  readonly partner: PartnerId;
  readonly webhook: WebhookId;
}

export interface WebhookChange {
  readonly url?: string | undefined;
  readonly topics?: readonly WebhookTopic[] | undefined;
  /** Development only: `url` may be http or a private address. */
  readonly allowPrivate?: boolean | undefined;
  /** Whether the caller can set `allowPrivate` by --allow-private, which the refusal of a URL then mentions. */
  readonly mayAllowPrivate?: boolean;
}

export interface NewWebhook extends WebhookChange {
  readonly partner: PartnerId;
  readonly url: string;
  readonly topics: readonly WebhookTopic[];
}

/**
 * Adds a webhook, which gets events from now on. Only this result contains the secret.
 * @throws PartnerUnknownError, OptionError, TooManyWebhooksError
 */
export async function addWebhook(
  database: Database,
  operator: Operator,
  { partner, ...wish }: NewWebhook,
  keyRing: KeyRing,
): Promise<{ readonly id: WebhookId; readonly secret: string }> {
  const [id, secret] = [randomUUID() as WebhookId, mintWebhookSecret()];
  const given = { partner, arguments: { webhook: id, ...auditedWish(wish) } };
  await onPartner(database, operator, given, async ({ partnerId }, audit) => {
    const terms = mergeTerms(wish, wish);
    const ciphertext = keyRing.seal(secret, webhookSealContext(id));
    await new SubscriptionStore(database).add(partnerId, { id, ciphertext, ...terms }, audit);
  });
  return { id, secret };
}

/** Changes a webhook; absent fields stay as they are. @throws PartnerUnknownError, WebhookMissingError, OptionError */
export async function setWebhook(
  database: Database,
  operator: Operator,
  { partner, webhook }: WebhookChoice,
  change: WebhookChange,
): Promise<void> {
  const given = { partner, arguments: { webhook, ...auditedWish(change) } };
  await onPartner(database, operator, given, ({ partnerId }, audit) =>
    new SubscriptionStore(database).change(
      partnerId,
      webhook,
      (before) => mergeTerms(before, change),
      audit,
    ),
  );
}

/** Pauses or resumes a webhook. Events wait while it is paused. @param because absent to resume */
export async function pauseWebhook(
  database: Database,
  operator: Operator,
  { partner, webhook }: WebhookChoice,
  because: PausedBecause | undefined,
): Promise<void> {
  const given = { partner, arguments: { webhook } };
  await onPartner(database, operator, given, ({ partnerId }, audit) =>
    new SubscriptionStore(database).pause(partnerId, webhook, because, audit),
  );
}

export interface WebhookRotation extends WebhookChoice {
  /** How long the old secret signs beside the new one. */
  readonly overlapHours: number;
}

/** Replaces the secret. Only this result contains the new one. @throws PartnerUnknownError, WebhookMissingError */
export async function rotateWebhook(
  database: Database,
  operator: Operator,
  { partner, webhook, overlapHours }: WebhookRotation,
  keyRing: KeyRing,
): Promise<{ readonly secret: string; readonly goodUntil: Date }> {
  const secret = mintWebhookSecret();
  const given = { partner, arguments: { webhook, overlapHours } };
  const goodUntil = await onPartner(database, operator, given, ({ partnerId }, audit) => {
    const ciphertext = keyRing.seal(secret, webhookSealContext(webhook));
    const rotation = { id: webhook, ciphertext, overlapSeconds: overlapHours * 3600 };
    return new SubscriptionStore(database).rotate(partnerId, rotation, audit);
  });
  return { secret, goodUntil };
}

/** Removes a webhook, its waiting events and its log. @throws PartnerUnknownError, WebhookMissingError */
export async function removeWebhook(
  database: Database,
  operator: Operator,
  { partner, webhook }: WebhookChoice,
): Promise<void> {
  const given = { partner, arguments: { webhook } };
  await onPartner(database, operator, given, ({ partnerId }, audit) =>
    new SubscriptionStore(database).remove(partnerId, webhook, audit),
  );
}

/** Sends a test event, which has no data. @returns its id @throws WebhookMissingError */
export async function testWebhook(
  database: Database,
  operator: Operator,
  { partner, webhook }: WebhookChoice,
  clock: Clock,
): Promise<string> {
  const given = { partner, arguments: { webhook } };
  const timestamp = new Date(clock.nowMs()).toISOString();
  const payload = JSON.stringify({ type: TEST_EVENT, timestamp, data: {} });
  return onPartner(database, operator, given, ({ partnerId }, audit) => {
    const test = { id: webhook, type: TEST_EVENT, payload };
    return new ReplayStore(database).addTest(partnerId, test, audit);
  });
}

/**
 * Sends events again; waiting events are tried at once.
 * @returns how many
 * @throws WebhookMissingError, WebhookEventMissingError
 */
export async function replayWebhook(
  database: Database,
  operator: Operator,
  { partner, webhook }: WebhookChoice,
  wish: ReplayWish,
): Promise<number> {
  const given = { partner, arguments: { webhook, ...wish } };
  return onPartner(database, operator, given, ({ partnerId }, audit) =>
    new ReplayStore(database).replay(partnerId, webhook, wish, audit),
  );
}

const EVENT_ID =
  /^(?:msg_)?([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})$/;

/**
 * Parses the id of an event, with or without hyphens and the `msg_` of `webhook-id`.
 * @throws WebhookEventMissingError
 */
export function webhookEventId(text: string): string {
  const [, ...parts] = EVENT_ID.exec(text.toLowerCase()) ?? [];
  if (parts.length === 0) throw new WebhookEventMissingError();
  return parts.join('-');
}

/** Parses the id of a webhook, which has no other name. @throws WebhookMissingError */
export function webhookId(text: string): WebhookId {
  const id = parseWebhookId(text);
  if (id === undefined) throw new WebhookMissingError();
  return id;
}

function mergeTerms(before: SubscriptionTerms, change: WebhookChange): SubscriptionTerms {
  const url = change.url === undefined ? before.url : usableUrl(change.url, change);
  const topics = [...new Set(change.topics ?? before.topics)];
  if (topics.length === 0) throw new OptionError('A webhook tells of one topic at least.');
  return { url, topics };
}

function usableUrl(text: string, change: WebhookChange): string {
  const { allowPrivate = false, mayAllowPrivate = false } = change;
  const parsed = parsePartnerUrl(text, { allowPrivate });
  if (!parsed.ok) {
    const isTaken = mayAllowPrivate && parsePartnerUrl(text, { allowPrivate: true }).ok;
    const hint = isTaken ? ' For development only, --allow-private takes it.' : '';
    throw new OptionError(parsed.message + hint);
  }
  return calledUrl(text);
}

/** The URL as it is called: a host with other letters than ASCII as `xn--…`, and a path without them. */
function calledUrl(text: string): string {
  const { origin, pathname } = new URL(text);
  return origin + pathname;
}

/** A refused URL may contain a credential, so the audit row does not have it. */
function auditedWish({ url, topics }: WebhookChange): object {
  const isUsable = url !== undefined && parsePartnerUrl(url, { allowPrivate: true }).ok;
  return {
    ...(url !== undefined && { url: isUsable ? calledUrl(url) : 'unusable' }),
    ...(topics !== undefined && { topics }),
  };
}
