/** Lanes: events of a wallet are sent one at a time, in the order of their transactions, even where processes die. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { aWebhookId } from '#libs/testing/partner';
import {
  type AttemptRecord,
  type Database,
  type DueEvent,
  EventQueue,
  messageId,
  ReplayStore,
  SubscriptionStore,
  WebhookLog,
  WebhookSweep,
} from '../index.js';
import { type LaneLease } from './event-queue.js';
import {
  ADD,
  addEvents,
  AUDIT,
  leaseAll,
  made,
  record,
  subscribe,
  subscribeAgain,
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
const soon = () => new Date(Date.now() - 1000);
const WALLETS = ['a', 'b', 'c', 'd', 'e', 'f'];

describe('a lane', () => {
  it('has one event under way, the oldest; the next when that is delivered or given up', async () => {
    await add('w', 3);
    const owner = randomUUID();
    const [first] = (await lease({ owner })) as [DueEvent];
    expect([made(first), await lease()]).toEqual([0, []]);
    await queue.end({ event: first, owner, record: record('failed'), nextAttemptAt: soon() });
    const [again] = (await lease({ owner })) as [DueEvent];
    expect([made(again), again.attempts, again.id]).toEqual([0, 1, first.id]);
    await queue.end({ event: again, owner, record: record('delivered') });
    const [second] = (await lease({ owner })) as [DueEvent];
    expect(made(second)).toBe(1);
    await queue.end({ event: second, owner, record: record('failed') });
    const log = WebhookLog.ofAll(admin);
    const states = (await log.events({ subscription: one.id, limit: 10 })).map(
      ({ state }) => state,
    );
    expect(states).toEqual(['waiting', 'given-up', 'delivered']);
    const shown = await log.event(one.id, first.id);
    expect(shown?.history.map(({ outcome }) => outcome)).toEqual(['delivered', 'failed']);
    expect(messageId(first.id)).toMatch(/^msg_[0-9a-f]{32}$/);
  });

  it('sends canonical JSON, whatever form the event is stored in, and the log shows it', async () => {
    await admin.query(ADD, [one.id, 'w', '{"type": "x", "data": {"tier": 2, "amount": "1.50"}}']);
    const [first] = (await lease({ leaseMs: 0 })) as [DueEvent];
    const sent = '{"data":{"amount":"1.50","tier":2},"type":"x"}';
    expect(first.payload).toBe(sent);
    expect((await lease())[0]?.payload).toBe(sent);
    expect((await WebhookLog.ofAll(admin).event(one.id, first.id))?.payload).toBe(sent);
  });

  it('of a holder who died goes on with the same event', async () => {
    await add('w', 2);
    const [first] = (await lease({ leaseMs: 0 })) as [DueEvent];
    const [again] = (await lease()) as [DueEvent];
    expect([again.id, made(again)]).toEqual([first.id, 0]);
  });

  it('is not kept under a lease in which its last event turns out to be ended', async () => {
    await add('w');
    // As between the two statements of a lease, when a late holder ends the event.
    await admin.query({
      text: `UPDATE webhooks.event SET state = 'delivered', finished_at = now()`,
    });
    expect(await lease()).toEqual([]);
    const [lane] = await admin.query<{ owner: string | null }>({
      text: 'SELECT lease_owner AS owner FROM webhooks.lane',
    });
    expect(lane).toEqual({ owner: null });
  });

  it('counts what a late holder has delivered once, and leaves the lease of the new one', async () => {
    await add('w', 2);
    const [late, now] = [randomUUID(), randomUUID()];
    const [first] = (await lease({ owner: late, leaseMs: 0 })) as [DueEvent];
    const [again] = (await lease({ owner: now })) as [DueEvent];
    await queue.end({ event: first, owner: late, record: record('delivered') });
    expect(await lease()).toEqual([]);
    await queue.end({ event: again, owner: now, record: record('delivered') });
    const { rows } = await admin.pool.query('SELECT waiting FROM webhooks.lane');
    expect(rows).toEqual([{ waiting: 1 }]);
    expect((await lease()).map(made)).toEqual([1]);
  });

  it('sends in the order of the transactions: none appears behind one that was sent', async () => {
    const client = await admin.pool.connect();
    try {
      await client.query('BEGIN');
      await client.query(ADD.text, [one.id, 'w', '{"made":"first"}']);
      const second = admin.query(ADD, [one.id, 'w', '{"made":"second"}']);
      expect(await lease()).toEqual([]);
      await client.query('COMMIT');
      await second;
    } finally {
      client.release();
    }
    const [first] = (await lease()) as [DueEvent];
    expect(made(first)).toBe('first');
  });

  it('gives back what was not sent', async () => {
    await add('w');
    const owner = randomUUID();
    const [event] = (await lease({ owner })) as [DueEvent];
    await queue.release(event, randomUUID());
    expect(await lease()).toEqual([]);
    await queue.release(event, owner);
    expect((await lease()).map(({ id, attempts }) => [id, attempts])).toEqual([[event.id, 0]]);
  });
});

describe('a subscription', () => {
  it('has so many events under way at once, and one after failures in a row', async () => {
    for (const wallet of WALLETS) await add(wallet);
    const owner = randomUUID();
    const first = await lease({ perSubscription: 3, owner });
    expect(first).toHaveLength(3);
    expect(await lease({ perSubscription: 3 })).toEqual([]);
    for (const event of first) {
      for (let times = 0; times < 2; times += 1) {
        await queue.end({ event, owner, record: record('failed'), nextAttemptAt: soon() });
      }
    }
    const [only, ...others] = (await lease({ perSubscription: 3, owner })) as [DueEvent];
    expect(others).toEqual([]);
    await queue.end({ event: only, owner, record: record('delivered') });
    expect(await lease({ perSubscription: 3 })).toHaveLength(3);
  });

  it('does not hold up another one', async () => {
    for (const wallet of WALLETS) await add(wallet);
    const other = await subscribe(admin, ['redemption.*']);
    await add('late', 1, other);
    const due = await lease({ count: 4, perSubscription: 3 });
    expect(due.map(({ subscription }) => subscription)).toContain(other.id);
  });

  it('shares what its partner may have under way, which leaves room for other partners', async () => {
    const terms = { topics: ['redemption.*'], url: 'https://a.example' } as const;
    const own = [one];
    while (own.length < 4) own.push(await subscribeAgain(admin, one.partnerId, terms));
    for (const to of own) for (const wallet of 'abc') await add(wallet, 1, to);
    const other = await subscribe(admin, ['redemption.*']);
    await add('late', 1, other);
    const owner = randomUUID();
    const shares = { perSubscription: 3, perPartner: 5, owner };
    const due = await lease({ count: 6, ...shares });
    const ofOther = due.filter(({ subscription }) => subscription === other.id);
    expect([due.length, ofOther.length]).toEqual([6, 1]);
    expect(await lease(shares)).toEqual([]);
    for (const event of due.slice(0, 3)) await queue.release(event, owner);
    expect(await lease(shares)).toHaveLength(3);
  });

  it('that answered 410 is paused; nothing is lost, and what waits goes out when it goes on', async () => {
    await add('a', 2);
    const owner = randomUUID();
    const [event] = (await lease({ owner })) as [DueEvent];
    const later = new Date(Date.now() + 3_600_000);
    await queue.end({ event, owner, record: record('gone'), nextAttemptAt: later });
    await add('b');
    expect(await lease()).toEqual([]);
    const store = new SubscriptionStore(admin);
    expect(await store.list(one.partnerId)).toMatchObject([{ pausedBecause: 'gone', waiting: 3 }]);
    await store.pause(one.partnerId, one.id, undefined, AUDIT);
    expect((await lease()).map(({ orderKey }) => orderKey).sort()).toEqual(['a', 'b']);
  });

  it('that is paused is left out of what waits, and not of what was given up', async () => {
    await add('a', 2);
    const owner = randomUUID();
    const [event] = (await lease({ owner })) as [DueEvent];
    await queue.end({ event, owner, record: record('failed') });
    expect(await queue.standing()).toMatchObject({ waiting: 1, givenUp: 1 });
    await new SubscriptionStore(admin).pause(one.partnerId, one.id, 'partner', AUDIT);
    expect(await queue.standing()).toMatchObject({ waiting: 0, oldestSeconds: 0, givenUp: 1 });
  });

  it('says when something was delivered last, and is not written for each of a second', async () => {
    // The time is one row for all lanes: it is written at once after a failure, otherwise once a second.
    const store = new SubscriptionStore(admin);
    const last = async () => (await store.list(one.partnerId))[0]?.lastDeliveredAt?.getTime() ?? 0;
    const end = async (outcome: AttemptRecord['outcome']) => {
      await add('w');
      const owner = randomUUID();
      const [event] = (await lease({ owner })) as [DueEvent];
      await queue.end({ event, owner, record: record(outcome) });
      return last();
    };
    const set = async (ago: string) => {
      const text = 'UPDATE webhooks.subscription SET last_delivered_at = now() - $1::interval';
      await admin.query({ text }, [ago]);
      return last();
    };
    expect(await end('failed')).toBe(0);
    const first = await end('delivered');
    expect(first).toBeGreaterThan(0);
    await set('1 hour');
    expect(await end('failed')).toBeLessThan(first);
    expect(await end('delivered')).toBeGreaterThan(first);
    // A time in the future stands for one within the last second.
    const ahead = await set('-1 hour');
    expect(await end('delivered')).toBe(ahead);
    const before = await set('2 seconds');
    expect(await end('delivered')).toBeGreaterThan(before);
  });

  it('signs with the secrets that are good, the newest first', async () => {
    await add('a');
    const store = new SubscriptionStore(admin);
    const rotate = (text: string, overlapSeconds: number) =>
      store.rotate(
        one.partnerId,
        { id: one.id, ciphertext: Buffer.from(text), overlapSeconds },
        AUDIT,
      );
    await rotate('second', 3600);
    const [event] = (await lease({ leaseMs: 0 })) as [DueEvent];
    expect(event.secrets.map(String)).toEqual(['second', 'sealed']);
    await rotate('third', 0);
    const [again] = (await lease()) as [DueEvent];
    expect(again.secrets.map(String)).toEqual(['third']);
  });

  it('that is removed sends nothing, and leaves nothing', async () => {
    await add('a', 3);
    await new SubscriptionStore(admin).remove(one.partnerId, one.id, AUDIT);
    expect(await lease()).toEqual([]);
    await admin.query({
      text: `UPDATE webhooks.subscription SET removed_at = removed_at - interval '2 hours'`,
    });
    const service = await test.open({ url: test.urlAs('redemption') });
    const removed = await new WebhookSweep(service).run(30, new AbortController().signal);
    expect(removed).toBeGreaterThan(3);
    for (const table of ['subscription', 'secret', 'event', 'lane']) {
      const { rows } = await admin.pool.query(`SELECT 1 FROM webhooks.${table}`);
      expect([table, rows]).toEqual([table, []]);
    }
  });

  it.each([['another partner’s'], ['nobody’s']])('of %s id cannot be changed', async (whose) => {
    const other = await subscribe(admin, ['redemption.*']);
    const id = whose === 'nobody’s' ? aWebhookId() : other.id;
    const store = new SubscriptionStore(admin);
    const missing = { code: 'WEBHOOK_MISSING' };
    await expect(store.pause(one.partnerId, id, 'partner', AUDIT)).rejects.toMatchObject(missing);
    await expect(store.remove(one.partnerId, id, AUDIT)).rejects.toMatchObject(missing);
    const replays = new ReplayStore(admin);
    const since = { since: new Date(0), delivered: true };
    await expect(replays.replay(one.partnerId, id, since, AUDIT)).rejects.toMatchObject(missing);
  });

  it('is one of ten at most', async () => {
    const store = new SubscriptionStore(admin);
    const terms = { url: 'https://a.example', topics: ['day.sealed'] } as const;
    const another = () =>
      store.add(one.partnerId, { id: aWebhookId(), ciphertext: Buffer.alloc(1), ...terms }, AUDIT);
    for (let count = 1; count < 10; count += 1) await another();
    await expect(another()).rejects.toMatchObject({ code: 'TOO_MANY_WEBHOOKS' });
  });
});

describe('attempts that end together', () => {
  async function leased(owner: string): Promise<DueEvent[]> {
    for (const wallet of WALLETS) await add(wallet);
    return lease({ owner });
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
    await Promise.all(due.map((event) => own.end({ event, owner, record: record('delivered') })));
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
      await client.query(ADD.text, [one.id, 'd', '{}']);
      const ends = due.map((event) => {
        const ended = queue.end({ event, owner, record: record('delivered') });
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
    const ends = (await leased(owner)).map((event) => {
      const durationMs = event.orderKey === 'd' ? -1 : 1;
      return queue.end({ event, owner, record: { ...record('delivered'), durationMs } });
    });
    const results = await Promise.allSettled(ends);
    const refused = results.flatMap((end) =>
      end.status === 'rejected' ? [end.reason as unknown] : [],
    );
    expect(refused).toMatchObject([{ code: 'DATABASE_REFUSED' }]);
    expect(await delivered()).toEqual(WALLETS.filter((wallet) => wallet !== 'd'));
  });
});

describe('an event', () => {
  it.each(['payload', 'type', 'order_key'])('never changes its %s', async (column) => {
    await add('a');
    await expect(
      admin.query({ text: `UPDATE webhooks.event SET ${column} = 'other'` }),
    ).rejects.toMatchObject({ sqlState: '23000' });
  });
});
