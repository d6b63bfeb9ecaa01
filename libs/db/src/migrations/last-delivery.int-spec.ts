/** A subscription of before the upgrade has the time of what was delivered until then. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '#libs/testing';
import { type Database, SubscriptionStore } from '../index.js';
import { subscribe } from '../webhooks/webhook-bench.support-spec.js';
import { LastDelivery1760000000043 } from './webhooks.js';

let test: TestDatabase;
let admin: Database;
beforeAll(async () => {
  test = await createTestDatabase();
  admin = await test.open();
});
afterAll(() => test.drop());

it('is filled by the newest event that was delivered, and stays empty where none was', async () => {
  const [told, silent] = [
    await subscribe(admin, ['redemption.*']),
    await subscribe(admin, ['redemption.*']),
  ];
  const runner = admin.dataSource.createQueryRunner();
  const migration = new LastDelivery1760000000043();
  try {
    await migration.down(runner);
    const events = [
      [told.id, 'delivered', '2026-02-03T04:05:06.789123Z'],
      [told.id, 'delivered', '2026-01-01T00:00:00Z'],
      [told.id, 'given-up', '2026-03-01T00:00:00Z'],
      [told.id, 'waiting', null],
      [silent.id, 'given-up', '2026-03-01T00:00:00Z'],
    ];
    for (const event of events) {
      await admin.query(
        {
          text: `INSERT INTO webhooks.event (subscription, type, order_key, payload, state, finished_at)
            VALUES ($1, 'redemption.initial', 'w', '{}', $2, $3)`,
        },
        event,
      );
    }
    await migration.up(runner);
  } finally {
    await runner.release();
  }
  const store = new SubscriptionStore(admin);
  const [filled] = await store.list(told.partnerId);
  expect(filled?.lastDeliveredAt?.toISOString()).toBe('2026-02-03T04:05:06.789Z');
  const [empty] = await store.list(silent.partnerId);
  expect(empty?.lastDeliveredAt).toBeNull();
});
