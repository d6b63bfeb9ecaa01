/**
 * Days of a subscription, by a clock that the test moves: a subscriber that fails for a week, events given up, replays,
 * and a healthy subscriber beside it.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  type Database,
  type DueEvent,
  EventQueue,
  ReplayStore,
  SubscriptionStore,
  WebhookLog,
} from '#libs/db';
import { type PartnerId, WEBHOOK_SCHEDULE, type WebhookId } from '#libs/domain';
import { WebhookSender } from '#libs/partner-client';
import { KeyRing, mintWebhookSecret, webhookSealContext } from '#libs/signing';
import { FakeClock } from '#libs/testing/clock';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { aPartnerId, aWebhookId } from '#libs/testing/partner';
import { QueuePump } from '../worker/engine.js';
import { WebhookQueue } from './webhook.queue.js';

const HOUR_MS = 3_600_000;
const RING = KeyRing.parse(randomBytes(32).toString('base64'));
const AUDIT = { actor: 'operator:test', note: { command: 'test', outcome: 'done' } } as const;

let test: TestDatabase;
let admin: Database;
let service: Database;
let clock: FakeClock;
let delivery: QueuePump<DueEvent>;
const servers: Server[] = [];

beforeAll(async () => {
  test = await createTestDatabase();
  admin = await test.open();
  service = await test.open({ url: test.urlAs('redemption') });
});
beforeEach(() => {
  clock = new FakeClock(Date.now() + 1000);
  delivery = aDelivery(RING);
});
afterEach(async () => {
  await delivery.stop();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});
afterAll(() => test.drop());

function aDelivery(ring: KeyRing, timeoutMs?: number): QueuePump<DueEvent> {
  const policy = { allowPrivate: true };
  const sender = new WebhookSender({
    clock,
    policy,
    ...(timeoutMs !== undefined && { timeoutMs }),
  });
  const queue = new WebhookQueue(new EventQueue(service), sender, ring, {
    ...{ clock, atOnce: 16, perSubscription: 8, perPartner: 10, leaseMs: 45_000 },
    ...{ random: () => 0, schedule: WEBHOOK_SCHEDULE },
  });
  return new QueuePump(queue, {
    swept: () => undefined,
    failed: (_queue, error) => {
      throw error;
    },
  });
}

interface Subscriber {
  /** `endless`: 200 at once, and a body without end. */
  status: number | 'silent' | 'endless';
  /** The events that the subscriber accepted, by the number in the payload. */
  readonly taken: number[];
  readonly partnerId: PartnerId;
  readonly id: WebhookId;
}

async function aPartner(): Promise<PartnerId> {
  const { rows } = await admin.pool.query<{ id: PartnerId }>(
    'INSERT INTO partners.partner (name) VALUES ($1) RETURNING id',
    [randomUUID()],
  );
  return rows[0]?.id ?? aPartnerId();
}

/** @param partner default: a partner of its own */
async function aSubscriber(partner?: PartnerId): Promise<Subscriber> {
  const taken: number[] = [];
  const id = aWebhookId();
  const partnerId = partner ?? (await aPartner());
  const subscriber: Subscriber = { status: 204, taken, id, partnerId };
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const { status } = subscriber;
      if (status === 'silent') return;
      if (status === 'endless') {
        response.writeHead(200);
        const more = setInterval(() => response.write('.'), 50);
        response.on('close', () => {
          clearInterval(more);
        });
        return;
      }
      if (status === 204) taken.push((JSON.parse(body) as { n: number }).n);
      response.writeHead(status).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  servers.push(server);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const ciphertext = RING.seal(mintWebhookSecret(), webhookSealContext(id));
  const terms = { id, ciphertext, url, topics: ['redemption.*'] } as const;
  await new SubscriptionStore(admin).add(subscriber.partnerId, terms, AUDIT);
  return subscriber;
}

async function add({ id }: Subscriber, orderKey: string, ...numbers: number[]): Promise<void> {
  for (const n of numbers) {
    await admin.query(
      {
        text: `INSERT INTO webhooks.event (subscription, type, order_key, payload) VALUES ($1, 'redemption.initial', $2, $3)`,
      },
      [id, orderKey, JSON.stringify({ n })],
    );
  }
}

async function states({ id }: Subscriber): Promise<string[]> {
  const log = WebhookLog.ofAll(admin);
  const events = await log.events({ subscription: id, limit: 100 });
  return events.map(({ state, attempts }) => `${state} ${attempts}`).reverse();
}

async function hoursPass(hours: number): Promise<void> {
  for (let hour = 0; hour < hours; hour += 1) {
    clock.advance(HOUR_MS);
    await delivery.drain();
  }
}

describe('a subscriber', () => {
  it('that is gone for a week: given up after three days, the backlog too; replayed in order when it is back', async () => {
    const gone = await aSubscriber();
    const well = await aSubscriber();
    gone.status = 503;
    await add(gone, 'w', 1, 2, 3);
    await delivery.drain();
    expect(await states(gone)).toEqual(['waiting 1', 'waiting 0', 'waiting 0']);
    await hoursPass(24 * 3);
    expect(await states(gone)).toEqual(['waiting 9', 'waiting 0', 'waiting 0']);
    await add(well, 'w', 7);
    await hoursPass(24 * 4);
    // The first event has had ten attempts; the events behind it, which waited longer than those attempts take, have
    // had one.
    expect(await states(gone)).toEqual(['given-up 10', ...(await states(gone)).slice(1)]);
    expect((await states(gone)).slice(1).every((one) => one.startsWith('given-up'))).toBe(true);
    expect(well.taken).toEqual([7]);
    gone.status = 204;
    await add(gone, 'w', 4);
    await delivery.drain();
    expect(gone.taken).toEqual([4]);
    const wish = { since: new Date(0), delivered: false };
    expect(await new ReplayStore(admin).replay(gone.partnerId, gone.id, wish, AUDIT)).toBe(3);
    await delivery.drain();
    expect(gone.taken).toEqual([4, 1, 2, 3]);
  });

  it('that answers 410 is paused, and gets all when it goes on', async () => {
    const one = await aSubscriber();
    one.status = 410;
    await add(one, 'w', 1, 2);
    await hoursPass(30);
    expect(await states(one)).toEqual(['waiting 1', 'waiting 0']);
    one.status = 204;
    await new SubscriptionStore(admin).pause(one.partnerId, one.id, undefined, AUDIT);
    await delivery.drain();
    expect(one.taken).toEqual([1, 2]);
  });

  it('that never answers holds up nobody else', async () => {
    const [slow, well] = [await aSubscriber(), await aSubscriber()];
    slow.status = 'silent';
    for (let wallet = 0; wallet < 40; wallet += 1) await add(slow, String(wallet), wallet);
    await delivery.stop();
    delivery = aDelivery(RING, 400);
    await add(well, 'w', 1, 2, 3);
    delivery.wake();
    for (let looks = 0; well.taken.length < 3 && looks < 500; looks += 1) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(well.taken).toEqual([1, 2, 3]);
    expect((await states(slow)).filter((one) => one === 'waiting 0').length).toBeGreaterThan(0);
  });

  it('whose partner has several webhooks that answer without end holds up no other partner', async () => {
    const [first, well] = [await aSubscriber(), await aSubscriber()];
    const second = await aSubscriber(first.partnerId);
    for (const slow of [first, second]) {
      slow.status = 'endless';
      for (let wallet = 0; wallet < 10; wallet += 1) await add(slow, String(wallet), wallet);
    }
    await add(well, 'w', 1, 2, 3);
    delivery.wake();
    for (let looks = 0; well.taken.length < 3 && looks < 250; looks += 1) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(well.taken).toEqual([1, 2, 3]);
  });

  it('whose secret cannot be opened gets nothing that is not signed, and all when it can be', async () => {
    const one = await aSubscriber();
    await add(one, 'w', 1);
    await delivery.stop();
    delivery = aDelivery(KeyRing.parse(randomBytes(32).toString('base64')));
    await delivery.drain();
    expect([one.taken, await states(one)]).toEqual([[], ['waiting 1']]);
    const log = WebhookLog.ofAll(admin);
    const [event] = await log.events({ subscription: one.id, limit: 1 });
    expect(event?.lastError).toBe('not sent: SECRETS_KEY_MISSING');
    delivery = aDelivery(RING);
    await hoursPass(1);
    expect(one.taken).toEqual([1]);
  });
});
