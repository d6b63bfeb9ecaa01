/** Subscriptions of partners to webhooks, and the changes by partners and operators. */
import { type PoolClient } from 'pg';
import { type PartnerId, type WebhookId } from '#libs/domain';
import { type Database, run } from '../connection/database.js';
import { named } from '../connection/named.js';
import {
  auditPartner,
  type PartnerAudit,
  PartnerUnknownError,
} from '../partners/partner-changes.js';
import {
  MOST_SUBSCRIPTIONS,
  type PausedBecause,
  SUBSCRIPTION_COLUMNS,
  type SubscriptionTerms,
  TooManyWebhooksError,
  WebhookMissingError,
  type WebhookSubscription,
} from './subscription.js';

export interface NewSubscription extends SubscriptionTerms {
  /** Part of the seal of the secret, so the code that seals the secret makes the id. */
  readonly id: WebhookId;
  /** The signing secret, sealed. */
  readonly ciphertext: Buffer;
}

const WAITING = `(SELECT coalesce(sum(l.waiting), 0) FROM webhooks.lane l WHERE l.subscription = s.id AND l.waiting > 0)::int AS waiting`;

const LIST = named<{ partnerId: PartnerId }>(
  'webhook_list',
  `SELECT ${SUBSCRIPTION_COLUMNS}, ${WAITING} FROM webhooks.subscription s
    WHERE s.partner = :partnerId AND s.removed_at IS NULL ORDER BY s.created_at, s.id`,
);

const LOCK = named<{ partnerId: PartnerId; id: WebhookId }>(
  'webhook_lock',
  `SELECT ${SUBSCRIPTION_COLUMNS}, 0 AS waiting FROM webhooks.subscription s
    WHERE s.partner = :partnerId AND s.id = :id::uuid AND s.removed_at IS NULL FOR UPDATE`,
);

/** Two additions happen one after the other, because a partner has a limited number of webhooks. */
const LOCK_PARTNER = named<{ partnerId: PartnerId }>(
  'webhook_lock_partner',
  'SELECT FROM partners.partner WHERE id = :partnerId FOR UPDATE',
);

const ADD = named<NewSubscription & { partnerId: PartnerId }>(
  'webhook_add',
  `WITH added AS (
      INSERT INTO webhooks.subscription (id, partner, url, topics, stake_set)
      SELECT :id::uuid, p.id, :url, :topics::text[], coalesce(p.stake_set, 'default')
      FROM partners.partner p WHERE p.id = :partnerId RETURNING id
    )
    INSERT INTO webhooks.secret (subscription, ciphertext) SELECT id, :ciphertext FROM added`,
);

const SET = named<SubscriptionTerms & { id: WebhookId }>(
  'webhook_set',
  'UPDATE webhooks.subscription SET url = :url, topics = :topics::text[], failures = 0 WHERE id = :id::uuid',
);

const PAUSE = named<{ id: WebhookId; because: PausedBecause | null }>(
  'webhook_pause',
  `UPDATE webhooks.subscription SET paused_because = :because, failures = 0,
      paused_at = CASE WHEN :because::text IS NOT NULL THEN coalesce(paused_at, clock_timestamp()) END WHERE id = :id::uuid`,
);

/** Makes all lanes with waiting events due at once. */
export const HASTEN = named<{ id: WebhookId }>(
  'webhook_hasten',
  'UPDATE webhooks.lane SET next_attempt_at = now() WHERE subscription = :id::uuid AND waiting > 0 AND next_attempt_at > now()',
);

const ROTATE = named<{ id: WebhookId; ciphertext: Buffer; overlapSeconds: number }>(
  'webhook_rotate',
  `WITH ended AS (
      UPDATE webhooks.secret SET ends_at = least(ends_at, now() + :overlapSeconds * interval '1 second') WHERE subscription = :id::uuid
    ), added AS (INSERT INTO webhooks.secret (subscription, ciphertext) VALUES (:id::uuid, :ciphertext))
    UPDATE webhooks.subscription SET rotated_at = now() WHERE id = :id::uuid
    RETURNING now() + :overlapSeconds * interval '1 second' AS "goodUntil"`,
);

const REMOVE = named<{ id: WebhookId }>(
  'webhook_remove',
  'UPDATE webhooks.subscription SET removed_at = now() WHERE id = :id::uuid',
);

type Work<T> = (client: PoolClient, before: WebhookSubscription) => Promise<T>;

export class SubscriptionStore {
  constructor(private readonly database: Database) {}

  /** Oldest first. */
  async list(partnerId: PartnerId): Promise<WebhookSubscription[]> {
    return this.database.query<WebhookSubscription & object>(LIST({ partnerId }));
  }

  /** @throws PartnerUnknownError, TooManyWebhooksError */
  async add(
    partnerId: PartnerId,
    subscription: NewSubscription,
    audit: PartnerAudit,
  ): Promise<void> {
    await this.database.transaction(async (client) => {
      if ((await run(client, LOCK_PARTNER({ partnerId }))).length === 0) {
        throw new PartnerUnknownError();
      }
      const there = await run(client, LIST({ partnerId }));
      if (there.length >= MOST_SUBSCRIPTIONS) throw new TooManyWebhooksError();
      await run(client, ADD({ partnerId, ...subscription }));
      await auditPartner(client, partnerId, audit);
    });
  }

  /**
   * Sets the terms.
   * @param merge makes the new terms from the present ones
   * @throws WebhookMissingError, and what `merge` throws
   */
  async change(
    partnerId: PartnerId,
    id: WebhookId,
    merge: (before: WebhookSubscription) => SubscriptionTerms,
    audit: PartnerAudit,
  ): Promise<void> {
    await this.on({ partnerId, id, audit }, async (client, before) => {
      await run(client, SET({ id, ...merge(before) }));
    });
  }

  /**
   * Pauses the webhook, or resumes it where `because` is undefined: events that wait are then tried at once.
   * @throws WebhookMissingError
   */
  async pause(
    partnerId: PartnerId,
    id: WebhookId,
    because: PausedBecause | undefined,
    audit: PartnerAudit,
  ): Promise<void> {
    await this.on({ partnerId, id, audit }, async (client) => {
      await run(client, PAUSE({ id, because: because ?? null }));
      if (because === undefined) await run(client, HASTEN({ id }));
    });
  }

  /**
   * Adds a secret. The previous one also signs for `overlapSeconds`.
   * @returns the end of the overlap
   * @throws WebhookMissingError
   */
  async rotate(
    partnerId: PartnerId,
    secret: {
      readonly id: WebhookId;
      readonly ciphertext: Buffer;
      readonly overlapSeconds: number;
    },
    audit: PartnerAudit,
  ): Promise<Date> {
    return this.on({ partnerId, id: secret.id, audit }, async (client) => {
      const [row] = await run<{ goodUntil: Date }>(client, ROTATE(secret));
      if (row === undefined) throw new WebhookMissingError();
      return row.goodUntil;
    });
  }

  /** Events of the webhook are not sent any more and soon deleted. @throws WebhookMissingError */
  async remove(partnerId: PartnerId, id: WebhookId, audit: PartnerAudit): Promise<void> {
    await this.on({ partnerId, id, audit }, (client) => run(client, REMOVE({ id })));
  }

  private on<T>(
    {
      partnerId,
      id,
      audit,
    }: { readonly partnerId: PartnerId; readonly id: WebhookId; readonly audit: PartnerAudit },
    work: Work<T>,
  ): Promise<T> {
    return this.database.transaction(async (client) => {
      const result = await work(client, await lockSubscription(client, partnerId, id));
      await auditPartner(client, partnerId, audit);
      return result;
    });
  }
}

/** @throws WebhookMissingError */
export async function lockSubscription(
  client: PoolClient,
  partnerId: PartnerId,
  id: WebhookId,
): Promise<WebhookSubscription> {
  const [row] = await run<WebhookSubscription>(client, LOCK({ partnerId, id }));
  if (row === undefined) throw new WebhookMissingError();
  return row;
}
