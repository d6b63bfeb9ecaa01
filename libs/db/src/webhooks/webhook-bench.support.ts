/** Subscriptions, and sealed days. Counts as a test file without being one. */
import { randomUUID } from 'node:crypto';
import { type PartnerId, type WebhookId, type WebhookTopic } from '#libs/domain';
import { aWebhookId } from '#libs/testing/partner';
import {
  type AttemptRecord,
  type Database,
  type DueEvent,
  type EventQueue,
  SubscriptionStore,
} from '../index.js';
import { type LaneLease } from './event-queue.js';
import { type SubscriptionTerms } from './subscription.js';

export const AUDIT = {
  actor: 'operator:test',
  note: { command: 'partner webhook', outcome: 'done' },
} as const;

export interface Subscribed {
  readonly partnerId: PartnerId;
  readonly id: WebhookId;
}

export async function subscribe(
  database: Database,
  topics: readonly WebhookTopic[],
  url = 'https://partner.example/hooks',
): Promise<Subscribed> {
  const [partner] = await database.query<{ id: PartnerId }>(
    { text: 'INSERT INTO partners.partner (name) VALUES ($1) RETURNING id' },
    [randomUUID()],
  );
  if (partner === undefined) throw new Error('it was added');
  return subscribeAgain(database, partner.id, { topics, url });
}

/** Another webhook of a partner. */
export async function subscribeAgain(
  database: Database,
  partnerId: PartnerId,
  terms: SubscriptionTerms,
): Promise<Subscribed> {
  const id = aWebhookId();
  const ciphertext = Buffer.from('sealed');
  await new SubscriptionStore(database).add(partnerId, { id, ciphertext, ...terms }, AUDIT);
  return { partnerId, id };
}

export interface ToldEvent {
  readonly type: string;
  readonly orderKey: string;
  readonly data: Record<string, unknown>;
}

/** The events in the order in which they are sent. */
export async function eventsOf(database: Database, { id }: Subscribed): Promise<ToldEvent[]> {
  const rows = await database.query<{ type: string; orderKey: string; payload: string }>(
    {
      text: `SELECT type, order_key AS "orderKey", payload FROM webhooks.event WHERE subscription = $1 ORDER BY sequence`,
    },
    [id],
  );
  return rows.map(({ payload, ...row }) => {
    const { data } = JSON.parse(payload) as { data: Record<string, unknown> };
    return { ...row, data };
  });
}

export async function seal(
  database: Database,
  day: number,
  lastBlock: number,
  revision = 1,
): Promise<void> {
  await database.query(
    {
      text: `INSERT INTO staking.sealed_day (day, revision, root, wallets, total, block_number, block_hash, software, previous_root)
        SELECT $1, $3, decode(repeat(to_hex(15 + $3), 32), 'hex'), 1, 1, $2, decode(repeat('0b', 32), 'hex'), 'test',
          (SELECT root FROM staking.sealed_day WHERE day = $1 AND revision = $3 - 1)`,
    },
    [day, lastBlock, revision],
  );
}

export const ADD = {
  text: `INSERT INTO webhooks.event (subscription, type, order_key, payload) VALUES ($1, 'redemption.initial', $2, $3)`,
};

/** Each event has its number in `made`. */
export async function addEvents(
  admin: Database,
  subscription: string,
  orderKey: string,
  count: number,
): Promise<void> {
  for (let made = 0; made < count; made += 1) {
    await admin.query(ADD, [subscription, orderKey, JSON.stringify({ orderKey, made })]);
  }
}

export function leaseAll(queue: EventQueue, change: Partial<LaneLease> = {}): Promise<DueEvent[]> {
  const all = { count: 100, owner: randomUUID(), leaseMs: 60_000 };
  return queue.lease({ ...all, perSubscription: 50, perPartner: 100, ...change });
}

export function record(outcome: AttemptRecord['outcome']): AttemptRecord {
  const status = outcome === 'delivered' ? 200 : 500;
  const at = new Date();
  return { at, outcome, status, error: undefined, durationMs: 1, request: {}, answer: {} };
}

export const made = ({ payload }: DueEvent): unknown =>
  (JSON.parse(payload) as { made: number }).made;
