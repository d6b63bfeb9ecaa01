import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '#libs/testing';
import { type Database, EventQueue, SubscriptionStore, WebhookSweep } from '../index.js';
import { AUDIT, subscribe } from './webhook-bench.support.js';

let test: TestDatabase;
let admin: Database;
beforeAll(async () => {
  test = await createTestDatabase();
  admin = await test.open();
});
afterAll(() => test.drop());

it('forgets what was finished long ago, and what waited as long while paused, and nothing else', async () => {
  const one = await subscribe(admin, ['redemption.*']);
  for (const payload of ['{"n":1}', '{"n":2}']) {
    await admin.query(
      {
        text: `INSERT INTO webhooks.event (subscription, type, order_key, payload) VALUES ($1, 'redemption.initial', 'w', $2)`,
      },
      [one.id, payload],
    );
  }
  const service = await test.open({ url: test.urlAs('redemption') });
  const queue = new EventQueue(service);
  const owner = '00000000-0000-4000-8000-000000000000';
  const lease = { count: 1, owner, leaseMs: 60_000, perSubscription: 1, perPartner: 1 };
  for (const event of await queue.lease(lease)) {
    const answer = { status: 200, error: undefined, durationMs: 1, request: {}, answer: {} };
    const record = { at: new Date(), outcome: 'delivered', ...answer } as const;
    await queue.end({ event, owner, record });
  }
  const sweep = new WebhookSweep(service);
  const { signal } = new AbortController();
  const left = async (): Promise<number> =>
    (await admin.pool.query('SELECT 1 FROM webhooks.event')).rows.length;
  await sweep.run(30, signal);
  expect(await left()).toBe(2);
  await admin.query({ text: 'ALTER TABLE webhooks.event DISABLE TRIGGER unchanged' });
  await admin.query({
    text: `UPDATE webhooks.event SET created_at = created_at - interval '31 days', finished_at = finished_at - interval '31 days'`,
  });
  await admin.query({ text: 'ALTER TABLE webhooks.event ENABLE TRIGGER unchanged' });
  await sweep.run(30, signal);
  expect(await left()).toBe(1);
  await new SubscriptionStore(admin).pause(one.partnerId, one.id, 'partner', AUDIT);
  await sweep.run(30, signal);
  expect(await left()).toBe(0);
  expect((await admin.pool.query('SELECT 1 FROM webhooks.attempt')).rows).toEqual([]);
  expect((await admin.pool.query('SELECT 1 FROM webhooks.lane')).rows).toEqual([]);
});
