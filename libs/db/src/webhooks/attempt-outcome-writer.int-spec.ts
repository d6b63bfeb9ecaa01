/** Attempts that end at the same time are written together, with the same effect as one by one. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '#libs/testing';
import { type AttemptRecord, type Database, type DueEvent, EventQueue } from '../index.js';
import { subscribe, type Subscribed } from './webhook-bench.support.js';

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

const ADD = {
  text: `INSERT INTO webhooks.event (subscription, type, order_key, payload) VALUES ($1, 'redemption.initial', $2, '{}')`,
};
const DELIVERED: AttemptRecord = {
  ...{ at: new Date(), outcome: 'delivered', status: 200, error: undefined },
  ...{ durationMs: 1, request: {}, answer: {} },
};
const WALLETS = ['a', 'b', 'c', 'd', 'e', 'f'];

describe('attempts that end together', () => {
  async function leased(owner: string): Promise<DueEvent[]> {
    for (const wallet of WALLETS) await admin.query(ADD, [one.id, wallet]);
    return queue.lease({ count: 100, owner, leaseMs: 60_000, perSubscription: 50, perPartner: 50 });
  }

  async function delivered(): Promise<string[]> {
    const { rows } = await admin.pool.query<{ key: string }>(
      `SELECT e.order_key AS key FROM webhooks.event e JOIN webhooks.attempt a ON a.event = e.sequence
        JOIN webhooks.lane l ON (l.subscription, l.order_key) = (e.subscription, e.order_key)
        WHERE e.state = 'delivered' AND e.attempts = 1 AND l.waiting = 0 AND l.lease_owner IS NULL ORDER BY 1`,
    );
    return rows.map(({ key }) => key);
  }

  it('are written by few statements, each as if it were alone', async () => {
    const owner = randomUUID();
    const due = await leased(owner);
    const database = await test.open({ url: test.urlAs('redemption') });
    const statements: string[] = [];
    const query = database.query.bind(database);
    database.query = (statement, ...values) => {
      statements.push(statement.name ?? '');
      return query(statement, ...values);
    };
    const own = new EventQueue(database);
    await Promise.all(due.map((event) => own.end({ event, owner, record: DELIVERED })));
    expect(await delivered()).toEqual(WALLETS);
    const ends = statements.filter((name) => name.endsWith('_end'));
    expect(ends).toEqual(['webhook_attempt_end', 'webhook_attempts_end']);
  });

  it('wait for no lane that another transaction holds', async () => {
    const owner = randomUUID();
    const due = await leased(owner);
    const client = await admin.pool.connect();
    let held: Promise<void> | undefined;
    try {
      await client.query('BEGIN');
      await client.query(ADD.text, [one.id, 'd']);
      const ends = due.map((event) => {
        const ended = queue.end({ event, owner, record: DELIVERED });
        if (event.orderKey === 'd') held = ended;
        return ended;
      });
      await Promise.all(ends.filter((ended) => ended !== held));
      expect(await delivered()).toEqual(WALLETS.filter((wallet) => wallet !== 'd'));
      await client.query('COMMIT');
    } finally {
      client.release();
    }
    await held;
    const { rows } = await admin.pool.query(
      'SELECT order_key, waiting FROM webhooks.lane WHERE waiting > 0',
    );
    expect(rows).toEqual([{ order_key: 'd', waiting: 1 }]);
  });

  it('are written where one of them is refused', async () => {
    const owner = randomUUID();
    const due = await leased(owner);
    const ends = due.map((event) => {
      const durationMs = event.orderKey === 'd' ? -1 : 1;
      return queue.end({ event, owner, record: { ...DELIVERED, durationMs } });
    });
    const results = await Promise.allSettled(ends);
    const refused = results.flatMap((end) =>
      end.status === 'rejected' ? [end.reason as unknown] : [],
    );
    expect(refused).toMatchObject([{ code: 'DATABASE_REFUSED' }]);
    expect(await delivered()).toEqual(WALLETS.filter((wallet) => wallet !== 'd'));
  });
});
