import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { type Database, EventQueue, SubscriptionStore, WebhookSweep } from '../index.js';
import { addEvents, AUDIT, leaseAll, record, subscribe } from './webhook-bench.support.js';

let test: TestDatabase;
let admin: Database;
beforeAll(async () => {
  test = await createTestDatabase();
  admin = await test.open();
});
afterAll(() => test.drop());

it('forgets what was finished long ago, and what waited as long while paused, and nothing else', async () => {
  const one = await subscribe(admin, ['redemption.*']);
  await addEvents(admin, one.id, 'w', 2);
  const service = await test.open({ url: test.urlAs('redemption') });
  const queue = new EventQueue(service);
  const owner = '00000000-0000-4000-8000-000000000000';
  for (const event of await leaseAll(queue, { owner })) {
    await queue.end({ event, owner, record: record('delivered') });
  }
  const sweep = new WebhookSweep(service);
  const { signal } = new AbortController();
  const rowsOf = async (table: string): Promise<number> =>
    (await admin.pool.query(`SELECT 1 FROM webhooks.${table}`)).rows.length;
  await sweep.run(30, signal);
  expect(await rowsOf('event')).toBe(2);
  await admin.query({ text: 'ALTER TABLE webhooks.event DISABLE TRIGGER unchanged' });
  await admin.query({
    text: `UPDATE webhooks.event SET created_at = created_at - interval '31 days', finished_at = finished_at - interval '31 days'`,
  });
  await admin.query({ text: 'ALTER TABLE webhooks.event ENABLE TRIGGER unchanged' });
  await sweep.run(30, signal);
  expect(await rowsOf('event')).toBe(1);
  await new SubscriptionStore(admin).pause(one.partnerId, one.id, 'partner', AUDIT);
  await sweep.run(30, signal);
  for (const table of ['event', 'attempt', 'lane']) expect(await rowsOf(table)).toBe(0);
});
