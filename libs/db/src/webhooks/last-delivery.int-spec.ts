/** The time of a subscription's last delivery is one row for all lanes, so it is not written at each delivery. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '#libs/testing';
import {
  type AttemptRecord,
  type Database,
  type DueEvent,
  EventQueue,
  SubscriptionStore,
} from '../index.js';
import { subscribe, type Subscribed } from './webhook-bench.support.js';

let test: TestDatabase;
let admin: Database;
let queue: EventQueue;
let one: Subscribed;
beforeAll(async () => {
  test = await createTestDatabase();
  admin = await test.open();
  queue = new EventQueue(await test.open({ url: test.urlAs('redemption') }));
  one = await subscribe(admin, ['redemption.*']);
});
afterAll(() => test.drop());

function record(outcome: AttemptRecord['outcome']): AttemptRecord {
  const status = outcome === 'delivered' ? 200 : 500;
  const at = new Date();
  return { at, outcome, status, error: undefined, durationMs: 1, request: {}, answer: {} };
}

it('says when something was delivered last, and is not written for each of a second', async () => {
  const store = new SubscriptionStore(admin);
  const last = async () => (await store.list(one.partnerId))[0]?.lastDeliveredAt ?? null;
  const end = async (outcome: AttemptRecord['outcome']) => {
    await admin.query(
      {
        text: `INSERT INTO webhooks.event (subscription, type, order_key, payload) VALUES ($1, 'redemption.initial', 'w', '{}')`,
      },
      [one.id],
    );
    const owner = randomUUID();
    const due = { count: 1, owner, leaseMs: 60_000, perSubscription: 1, perPartner: 1 };
    const [event] = (await queue.lease(due)) as [DueEvent];
    await queue.end({ event, owner, record: record(outcome) });
  };
  const set = (ago: string) =>
    admin.query(
      { text: 'UPDATE webhooks.subscription SET last_delivered_at = now() - $1::interval' },
      [ago],
    );
  await end('failed');
  expect(await last()).toBeNull();
  await end('delivered');
  const first = await last();
  expect(first).toBeInstanceOf(Date);
  await set('1 hour');
  await end('failed');
  const hour = await last();
  expect(hour?.getTime()).toBeLessThan(first?.getTime() ?? 0);
  // Written at once after a failure, otherwise once a second. A time in the future stands for one
  // within the last second.
  await end('delivered');
  expect((await last())?.getTime()).toBeGreaterThan(first?.getTime() ?? 0);
  await set('-1 hour');
  const ahead = await last();
  await end('delivered');
  expect(await last()).toEqual(ahead);
  await set('2 seconds');
  const before = await last();
  await end('delivered');
  expect((await last())?.getTime()).toBeGreaterThan(before?.getTime() ?? 0);
});
