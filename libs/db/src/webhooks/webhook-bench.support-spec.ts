/** Subscriptions, and an index whose days become final one by one. Counts as a test file without being one. */
import { randomUUID } from 'node:crypto';
import {
  type Address,
  type BlockRef,
  foldBlocks,
  type PartnerId,
  type TierRule,
  type WebhookId,
  type WebhookTopic,
} from '#libs/domain';
import { aBlock, anInitialIndex, aWebhookId } from '#libs/testing';
import {
  type AttemptRecord,
  type Database,
  type DueEvent,
  type EventQueue,
  IndexStore,
  SubscriptionStore,
} from '../index.js';
import { type LaneLease } from './event-queue.js';
import { type SubscriptionTerms } from './subscription.js';

export const DAY_SECONDS = 86_400;
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
  rule?: TierRule,
  url = 'https://partner.example/hooks',
): Promise<Subscribed> {
  const [partner] = await database.query<{ id: PartnerId }>(
    { text: 'INSERT INTO partners.partner (name) VALUES ($1) RETURNING id' },
    [randomUUID()],
  );
  if (partner === undefined) throw new Error('it was added');
  return subscribeAgain(database, partner.id, { topics, rule, url });
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

/** The changes of wallets' stakes in a block. */
export interface StakeStep {
  readonly block: number;
  readonly seconds: number;
  readonly deltas: readonly { readonly wallet: Address; readonly amount: bigint }[];
}

/** Indexes all steps. `finalTo` sets how far the index is final and verified. */
export async function indexStakes(
  database: Database,
  steps: readonly StakeStep[],
  last: BlockRef,
): Promise<void> {
  const store = new IndexStore(database);
  const first = aBlock(0, 0);
  await store.create(anInitialIndex({ head: first }));
  const fence = await store.takeLead();
  const folded = foldBlocks(
    new Map(),
    steps.map(({ block, seconds, deltas }) => ({
      blockNumber: BigInt(block),
      timestampSeconds: seconds,
      deltas: [...deltas],
    })),
  );
  const batch = { fence, previousHead: first, head: last, folded, blocks: [] };
  await store.commit({ ...batch, synced: true });
}

export async function finalTo(database: Database, block: number): Promise<void> {
  await database.query(
    {
      text: `UPDATE staking.index_state SET finalised_number = $1, finalised_hash = decode(repeat('0a', 32), 'hex'),
        finalised_seconds = $1, verified_number = $1`,
    },
    [block],
  );
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

/** Numbers from 0 to below `most`, the same for the same seed. */
export function dice(seed: number): (most: number) => number {
  let state = seed >>> 0;
  return (most) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
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
