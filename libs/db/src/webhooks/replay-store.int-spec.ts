/** Events that are sent again or sooner. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import {
  type Database,
  type DueEvent,
  EventQueue,
  ReplayStore,
  WebhookLog,
  WebhookSweep,
} from '../index.js';
import { type LaneLease } from './event-queue.js';
import {
  addEvents,
  AUDIT,
  leaseAll,
  made,
  record,
  subscribe,
  type Subscribed,
} from './webhook-bench.support.js';

let test: TestDatabase;
let admin: Database;
let queue: EventQueue;
let one: Subscribed;
beforeAll(async () => {
  test = await createTestDatabase();
  admin = await test.open({ poolSize: 4 });
  queue = new EventQueue(await test.open({ url: test.urlAs('redemption') }));
});
beforeEach(async () => {
  await admin.query({
    text: 'TRUNCATE webhooks.subscription, webhooks.event, webhooks.lane, webhooks.attempt, webhooks.secret',
  });
  one = await subscribe(admin, ['redemption.*']);
});
afterAll(() => test.drop());

const add = (orderKey: string, count = 1, to = one) => addEvents(admin, to.id, orderKey, count);
const lease = (change?: Partial<LaneLease>) => leaseAll(queue, change);

describe('a replay', () => {
  async function delivered(orderKey: string, count: number): Promise<void> {
    await add(orderKey, count);
    for (let done = 0; done < count; done += 1) {
      const owner = randomUUID();
      for (const event of await lease({ owner })) {
        const outcome = done % 2 === 0 ? 'delivered' : 'failed';
        await queue.end({ event, owner, record: record(outcome) });
      }
    }
  }

  it('of a time sends all again in their order, before what was made since', async () => {
    await delivered('w', 5);
    await add('w');
    const replays = new ReplayStore(admin, 2);
    const since = { since: new Date(0), delivered: true };
    expect(await replays.replay(one.partnerId, one.id, since, AUDIT)).toBe(5);
    const seen: unknown[] = [];
    for (let turn = 0; turn < 6; turn += 1) {
      const owner = randomUUID();
      const [event] = (await lease({ owner })) as [DueEvent];
      seen.push(made(event));
      await queue.end({ event, owner, record: record('delivered') });
    }
    expect(seen).toEqual([0, 1, 2, 3, 4, 0]);
    expect(await lease()).toEqual([]);
  });

  it.each([1, 5000])(
    'is of those that were given up only, or of one, by pages of %d',
    async (pageSize) => {
      await delivered('w', 4);
      const replays = new ReplayStore(admin, pageSize);
      const since = { since: new Date(0), delivered: false };
      expect(await replays.replay(one.partnerId, one.id, since, AUDIT)).toBe(2);
      const log = await WebhookLog.ofAll(admin).events({
        subscription: one.id,
        limit: 10,
        state: 'delivered',
      });
      const event = log[0]?.id ?? '';
      expect(await replays.replay(one.partnerId, one.id, { event }, AUDIT)).toBe(1);
      const missing = replays.replay(one.partnerId, one.id, { event: randomUUID() }, AUDIT);
      await expect(missing).rejects.toMatchObject({ code: 'WEBHOOK_EVENT_MISSING' });
      const none = { since: new Date(Date.now() + 60_000), delivered: true };
      expect(await replays.replay(one.partnerId, one.id, none, AUDIT)).toBe(0);
    },
  );

  it.each([
    ['of the event itself', (event: string) => ({ event })],
    ['of a time', () => ({ since: new Date(0), delivered: false })],
    ['by a test', () => undefined],
  ])('tries at once what waits for its next attempt: %s', async (_, wishOf) => {
    const owner = randomUUID();
    await add('w', 2);
    const [first] = (await lease({ owner })) as [DueEvent];
    const later = new Date(Date.now() + 86_400_000);
    await queue.end({ event: first, owner, record: record('failed'), nextAttemptAt: later });
    expect(await lease()).toEqual([]);
    const replays = new ReplayStore(admin);
    const wish = wishOf(first.id);
    if (wish !== undefined) await replays.replay(one.partnerId, one.id, wish, AUDIT);
    else await replays.addTest(one.partnerId, { id: one.id, type: 'test', payload: '{}' }, AUDIT);
    expect((await lease()).map(({ id, type }) => type === 'test' || id)).toContain(first.id);
  });

  it('finds its lane also where that was forgotten, and leaves a lane that others wait in', async () => {
    await delivered('w', 1);
    const service = await test.open({ url: test.urlAs('redemption') });
    await new WebhookSweep(service).run(30, new AbortController().signal);
    expect((await admin.pool.query('SELECT 1 FROM webhooks.lane')).rows).toEqual([]);
    const since = { since: new Date(0), delivered: true };
    await new ReplayStore(admin).replay(one.partnerId, one.id, since, AUDIT);
    expect(await lease()).toHaveLength(1);
  });
});
