/** The webhooks of partners. Operators set them by commands, partners on their pages. */
import { randomUUID } from 'node:crypto';
import {
  messageId,
  type PartnerAudit,
  type PartnerIdentity,
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
  TEST_EVENT,
  WEBHOOK_TOPICS,
  type WebhookId,
  type WebhookTopic,
} from '#libs/domain';
import { parsePartnerUrl } from '#libs/partner-client';
import { mintWebhookSecret, webhookSealContext } from '#libs/signing';
import { OptionError } from '../operation.error.js';
import { Field, fieldOf, type FieldSpec } from '../operation/field.js';
import { OnPartner } from '../operation/on-partner.js';
import { type OperationContext } from '../operation/operation.js';
import { LONGEST_OVERLAP_HOURS } from '../partners/credentials.js';

const TO_URL = {
  type: 'text',
  label: 'URL',
  help: 'where to: https://…, public, without a query',
  option: '--url <url>',
  most: 2000,
} as const satisfies FieldSpec;

const TOPICS = {
  type: 'words',
  label: 'Topics',
  help: 'what is told there',
  option: '--topics <list>',
  values: WEBHOOK_TOPICS,
  meanings: {
    'day.sealed': 'the root of a day that is final, and each revision of one',
    'redemption.*': 'each change of the status of a redemption',
    'answers.corrected': 'answers to the partner that were signed with a wrong figure',
  } satisfies Record<WebhookTopic, string>,
  isSome: true,
} as const satisfies FieldSpec;

/** What is told where. */
interface WebhookTerms {
  readonly url?: string;
  readonly topics?: readonly WebhookTopic[];
}

interface PrivateUrls {
  /** Development only: `url` may be http or a private address. Undefined: as the context has it. */
  allowPrivate?: boolean | undefined;
}

/** Adds a webhook, which gets events from now on. Only this result contains the secret. */
export class AddWebhook extends OnPartner<NewWebhook> implements PrivateUrls {
  static readonly spec = {
    command: 'partner webhook add',
    description: 'tell a partner at an address, and print the secret that signs, once',
    needs: 'secretsKey',
  } as const;

  @Field({ ...TO_URL, required: true }) readonly url!: string;
  @Field({ ...TOPICS, required: true }) readonly topics!: readonly WebhookTopic[];
  allowPrivate?: boolean | undefined;
  private id!: WebhookId;

  override perform(context: OperationContext): Promise<NewWebhook> {
    this.id = randomUUID() as WebhookId;
    return super.perform(context);
  }

  protected override auditedArguments(): object {
    return { webhook: this.id, ...auditedTerms(this) };
  }

  /** @throws PartnerUnknownError, OptionError, TooManyWebhooksError */
  protected async change(
    context: OperationContext,
    { partnerId }: PartnerIdentity,
    audit: PartnerAudit,
  ): Promise<NewWebhook> {
    const { id } = this;
    const secret = mintWebhookSecret();
    const terms = mergeTerms(this, this, context);
    const ciphertext = context.keyRing().seal(secret, webhookSealContext(id));
    const store = new SubscriptionStore(context.database);
    await store.add(partnerId, { id, ciphertext, ...terms }, audit);
    return { id, secret };
  }
}

export interface NewWebhook {
  readonly id: WebhookId;
  readonly secret: string;
}

/** An operation on one webhook of a partner. */
abstract class OnWebhook<Result = void> extends OnPartner<Result> {
  @Field({
    type: 'text',
    help: 'its id, as `partner webhook list` shows it',
    argument: '<webhook>',
    inPath: true,
  })
  webhook!: string;

  /** @throws PartnerUnknownError, WebhookMissingError */
  override perform(context: OperationContext): Promise<Result> {
    // A text that is no id is refused before it gets into an audit row.
    webhookId(this.webhook);
    return super.perform(context);
  }

  protected override auditedArguments(): object {
    return { webhook: this.id };
  }

  protected get id(): WebhookId {
    return webhookId(this.webhook);
  }
}

/** Changes a webhook; absent fields stay as they are. */
export class SetWebhook extends OnWebhook implements PrivateUrls {
  static readonly spec = {
    command: 'partner webhook set',
    description: 'change the address or the topics; what is absent stays',
  } as const;

  @Field(TO_URL) readonly url?: string;
  @Field(TOPICS) readonly topics?: readonly WebhookTopic[];
  allowPrivate?: boolean | undefined;

  protected override auditedArguments(): object {
    return { ...super.auditedArguments(), ...auditedTerms(this) };
  }

  /** @throws OptionError */
  protected change(
    context: OperationContext,
    { partnerId }: PartnerIdentity,
    audit: PartnerAudit,
  ): Promise<void> {
    const merge = (before: SubscriptionTerms) => mergeTerms(before, this, context);
    return new SubscriptionStore(context.database).change(partnerId, this.id, merge, audit);
  }

  override outcomeOf(): string {
    return 'It is set.';
  }
}

/** Pauses a webhook. Events wait while it is paused. */
export class PauseWebhook extends OnWebhook {
  static readonly spec = {
    command: 'partner webhook pause',
    description: 'send nothing for now; what comes about waits',
  } as const;

  by: PausedBecause = 'operator';

  protected change(
    { database }: OperationContext,
    { partnerId }: PartnerIdentity,
    audit: PartnerAudit,
  ): Promise<void> {
    return new SubscriptionStore(database).pause(partnerId, this.id, this.by, audit);
  }

  override outcomeOf(): string {
    return 'It is paused: what comes about waits.';
  }
}

export class ResumeWebhook extends OnWebhook {
  static readonly spec = {
    command: 'partner webhook resume',
    description: 'send again, what waits first',
  } as const;

  protected change(
    { database }: OperationContext,
    { partnerId }: PartnerIdentity,
    audit: PartnerAudit,
  ): Promise<void> {
    return new SubscriptionStore(database).pause(partnerId, this.id, undefined, audit);
  }

  override outcomeOf(): string {
    return 'It goes on; what waits is sent at once.';
  }
}

/** Replaces the secret. Only this result contains the new one. */
export class RotateWebhook extends OnWebhook<RotatedWebhook> {
  static readonly spec = {
    command: 'partner webhook rotate',
    description: 'make another secret, printed once; the old one signs beside it for a while',
    needs: 'secretsKey',
  } as const;

  @Field({
    type: 'whole',
    label: 'How long the old one still signs',
    help: 'for how long',
    option: '--overlap <hours>',
    ...{ min: 0, max: LONGEST_OVERLAP_HOURS, default: 24, required: true },
  })
  readonly overlapHours!: number;

  protected override auditedArguments(): object {
    return { ...super.auditedArguments(), overlapHours: this.overlapHours };
  }

  protected async change(
    { database, keyRing }: OperationContext,
    { partnerId }: PartnerIdentity,
    audit: PartnerAudit,
  ): Promise<RotatedWebhook> {
    const { id, overlapHours } = this;
    const secret = mintWebhookSecret();
    const ciphertext = keyRing().seal(secret, webhookSealContext(id));
    const rotation = { id, ciphertext, overlapSeconds: overlapHours * 3600 };
    const goodUntil = await new SubscriptionStore(database).rotate(partnerId, rotation, audit);
    return { secret, goodUntil };
  }
}

export interface RotatedWebhook {
  readonly secret: string;
  readonly goodUntil: Date;
}

/** Removes a webhook, its waiting events and its log. */
export class RemoveWebhook extends OnWebhook {
  static readonly spec = {
    command: 'partner webhook remove',
    description: 'end a webhook: what waits is not sent, and its log is removed',
    consequence: 'Waiting events are not sent, and the log of this webhook is removed.',
    isConfirmed: true,
  } as const;

  protected change(
    { database }: OperationContext,
    { partnerId }: PartnerIdentity,
    audit: PartnerAudit,
  ): Promise<void> {
    return new SubscriptionStore(database).remove(partnerId, this.id, audit);
  }

  override outcomeOf(): string {
    return 'It is removed.';
  }
}

/** Sends a test event, which has no data. @returns its id */
export class TestWebhook extends OnWebhook<string> {
  static readonly spec = {
    command: 'partner webhook test',
    description: 'send an event that tells nothing, to try the address now',
  } as const;

  protected change(
    { database, clock }: OperationContext,
    { partnerId }: PartnerIdentity,
    audit: PartnerAudit,
  ): Promise<string> {
    const timestamp = new Date(clock.nowMs()).toISOString();
    const payload = JSON.stringify({ type: TEST_EVENT, timestamp, data: {} });
    const test = { id: this.id, type: TEST_EVENT, payload };
    return new ReplayStore(database).addTest(partnerId, test, audit);
  }

  override outcomeOf(event: string): string {
    return `${messageId(event)} is on its way; the log says what becomes of it.`;
  }
}

/** Sends events again; waiting events are tried at once. @returns how many */
export class ReplayWebhook extends OnWebhook<number> {
  static readonly spec = {
    command: 'partner webhook replay',
    description:
      'send one event again, or those since a time that were given up; what waits is tried at once',
  } as const;

  @Field({
    type: 'text',
    label: 'Event',
    help: 'the id of one event, as `webhook-id` or the log has it, with or without msg_',
    option: '--event <id>',
    most: 64,
  })
  readonly event?: string | undefined;

  @Field({
    type: 'moment',
    label: 'From (your time)',
    help: 'all events that came about then or later and were given up',
    option: '--since <time>',
  })
  readonly since?: string | undefined;

  @Field({
    type: 'flag',
    label: 'Also those that were delivered',
    help: 'with a time: also those that were delivered',
    option: '--delivered',
  })
  readonly delivered?: boolean | undefined;

  protected override auditedArguments(): object {
    return { ...super.auditedArguments(), ...this.wish };
  }

  /** @throws OptionError, WebhookMissingError, WebhookEventMissingError */
  override perform(context: OperationContext): Promise<number> {
    if ((this.event === undefined) === (this.since === undefined)) {
      throw new OptionError((nameOf) => `Give either ${nameOf(EVENT)} or ${nameOf(SINCE)}.`);
    }
    return super.perform(context);
  }

  protected change(
    { database }: OperationContext,
    { partnerId }: PartnerIdentity,
    audit: PartnerAudit,
  ): Promise<number> {
    return new ReplayStore(database).replay(partnerId, this.id, this.wish, audit);
  }

  private get wish(): ReplayWish {
    const { event, since = '', delivered = false } = this;
    if (event !== undefined) return { event: webhookEventId(event) };
    return { since: new Date(since), delivered };
  }

  override outcomeOf(count: number): string {
    return `Events that are sent again: ${count}. What waits is tried at once.`;
  }
}

const [EVENT, SINCE] = [fieldOf(ReplayWebhook, 'event'), fieldOf(ReplayWebhook, 'since')];
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

function mergeTerms(
  before: SubscriptionTerms,
  change: WebhookTerms & PrivateUrls,
  { allowPrivate = false }: OperationContext,
): SubscriptionTerms {
  const { url: text, allowPrivate: given } = change;
  const url = text === undefined ? before.url : usableUrl(text, given ?? allowPrivate);
  const topics = [...new Set(change.topics ?? before.topics)];
  if (topics.length === 0)
    throw new OptionError('A webhook tells of one topic at least.', 'topics');
  return { url, topics };

  function usableUrl(wanted: string, isPrivateAllowed: boolean): string {
    const parsed = parsePartnerUrl(wanted, { allowPrivate: isPrivateAllowed });
    if (parsed.ok) return calledUrl(wanted);
    const isTaken = given !== undefined && parsePartnerUrl(wanted, { allowPrivate: true }).ok;
    const hint = isTaken ? ' For development only, --allow-private takes it.' : '';
    throw new OptionError(parsed.message + hint, 'url');
  }
}

/** The URL as it is called: a host with other letters than ASCII as `xn--…`, and a path without them. */
function calledUrl(text: string): string {
  const { origin, pathname } = new URL(text);
  return origin + pathname;
}

/** A refused URL may contain a credential, so the audit row does not have it. */
function auditedTerms({ url, topics }: WebhookTerms): object {
  const isUsable = url !== undefined && parsePartnerUrl(url, { allowPrivate: true }).ok;
  return {
    ...(url !== undefined && { url: isUsable ? calledUrl(url) : 'unusable' }),
    ...(topics !== undefined && { topics }),
  };
}
