/**
 * Lanes: events of a wallet are sent one at a time, in the order of their transactions, even where processes die. And what
 * is told as events: sealed days, and the statuses of redemptions.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { anInitialIndex, createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { aWebhookId } from '#libs/testing/partner';
import {
  type Database,
  DayEvents,
  type DueEvent,
  EventQueue,
  IndexStore,
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
  eventsOf,
  leaseAll,
  made,
  record,
  seal,
  subscribe,
  type Subscribed,
} from './webhook-bench.support.js';
import { LedgerBench } from '../redemption/ledger-bench.support.js';

let test: TestDatabase;
let admin: Database;
/** Connects like the service. */
let service: Database;
let queue: EventQueue;
let one: Subscribed;
beforeAll(async () => {
  test = await createTestDatabase();
  admin = await test.open({ poolSize: 4 });
  service = await test.open({ url: test.urlAs('redemption') });
  queue = new EventQueue(service);
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

  it('says when something was delivered last, written once a second', async () => {
    // The time is one row for all lanes of a subscription.
    const deliver = async (ago: string) => {
      const text = 'UPDATE webhooks.subscription SET last_delivered_at = now() - $1::interval';
      await admin.query({ text }, [ago]);
      await add('w');
      const owner = randomUUID();
      const [event] = (await lease({ owner })) as [DueEvent];
      await queue.end({ event, owner, record: record('delivered') });
      const [{ lastDeliveredAt } = {}] = await new SubscriptionStore(admin).list(one.partnerId);
      return (Date.now() - (lastDeliveredAt?.getTime() ?? 0)) / 1000;
    };
    expect(Math.abs(await deliver('1 hour'))).toBeLessThan(60);
    // A time in the future stands for one within the last second.
    expect(await deliver('-1 hour')).toBeLessThan(-3000);
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

  it('that is removed sends nothing, and leaves nothing', async () => {
    await add('a', 3);
    await new SubscriptionStore(admin).remove(one.partnerId, one.id, AUDIT);
    expect(await lease()).toEqual([]);
    await admin.query({
      text: `UPDATE webhooks.subscription SET removed_at = removed_at - interval '2 hours'`,
    });
    const removed = await new WebhookSweep(service).run(30, new AbortController().signal);
    expect(removed).toBeGreaterThan(3);
    for (const table of ['subscription', 'secret', 'event', 'lane']) {
      const { rows } = await admin.pool.query(`SELECT 1 FROM webhooks.${table}`);
      expect([table, rows]).toEqual([table, []]);
    }
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
    await new WebhookSweep(service).run(30, new AbortController().signal);
    expect((await admin.pool.query('SELECT 1 FROM webhooks.lane')).rows).toEqual([]);
    const since = { since: new Date(0), delivered: true };
    await new ReplayStore(admin).replay(one.partnerId, one.id, since, AUDIT);
    expect(await lease()).toHaveLength(1);
  });
});

it('what was finished long ago is forgotten, and what waited as long while paused, and nothing else', async () => {
  await add('w', 2);
  const owner = randomUUID();
  for (const event of await lease({ owner })) {
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

const dayOf = (day: number): string => new Date(day * 86_400_000).toISOString().slice(0, 10);

describe('what is told', () => {
  beforeEach(() => test.empty());

  describe('sealed days', () => {
    it('are told from the subscription on, once, to those who asked for them', async () => {
      await new IndexStore(admin).create(anInitialIndex());
      await seal(admin, 0, 3);
      const one = await subscribe(admin, ['day.sealed']);
      const other = await subscribe(admin, ['redemption.*']);
      for (const day of [1, 2, 3]) await seal(admin, day, 3 * day + 3);
      const days = new DayEvents(service, 'default');
      const again = new DayEvents(await test.open({ url: test.urlAs('redemption') }), 'default');
      await Promise.all([days.tell(), again.tell(), days.tell()]);
      await days.tell();
      expect((await eventsOf(admin, one)).map(({ data }) => data)).toEqual(
        [1, 2, 3].map((day) => ({
          ...{ stakeSet: 'default', day: dayOf(day), revision: 1, wallets: 1, total: '1' },
          ...{ root: `0x${'10'.repeat(32)}`, blockHash: `0x${'0b'.repeat(32)}` },
          ...{ blockNumber: 3 * day + 3, tokenDecimals: 18 },
        })),
      );
      expect(await eventsOf(admin, other)).toEqual([]);
    });

    it('are told again where one came out differently', async () => {
      await new IndexStore(admin).create(anInitialIndex());
      const one = await subscribe(admin, ['day.sealed']);
      await seal(admin, 1, 6);
      await seal(admin, 2, 9);
      const days = new DayEvents(service, 'default');
      await days.tell();
      await seal(admin, 2, 9, 2);
      await days.tell();
      const told = await eventsOf(admin, one);
      expect(told.map(({ type, data }) => [type, data['day'], data['revision']])).toEqual([
        ['day.sealed', '1970-01-02', 1],
        ['day.sealed', '1970-01-03', 1],
        ['day.sealed', '1970-01-03', 2],
      ]);
    });
  });

  describe('a redemption', () => {
    let bench: LedgerBench;
    beforeAll(() => {
      bench = new LedgerBench(test, service);
    });

    const statuses = async (one: Subscribed): Promise<unknown[]> =>
      (await eventsOf(admin, one)).map(({ type, data }) => [type, data['redemptionId']]);

    it('is told when its public status changes, to subscribers of its partner only', async () => {
      const one = await subscribe(admin, ['redemption.*', 'day.sealed']);
      const deaf = await subscribe(admin, ['day.sealed']);
      const other = await subscribe(admin, ['redemption.*']);
      const { id, wallet } = await bench.claimed({ partner: one.partnerId });
      const failed = await bench.cancelled(await bench.created({ partner: one.partnerId }));
      await bench.created({ partner: deaf.partnerId });
      expect(await statuses(one)).toEqual([
        ['redemption.initial', id],
        ['redemption.pending', id],
        ['redemption.claimed', id],
        ['redemption.initial', failed.id],
        ['redemption.failed', failed.id],
      ]);
      expect([await statuses(deaf), await statuses(other)]).toEqual([[], []]);
      const [, , last] = await eventsOf(admin, one);
      expect(last).toEqual({
        type: 'redemption.claimed',
        orderKey: wallet,
        data: {
          ...{ redemptionId: id, walletAddress: wallet, status: 'claimed', points: 5000 },
          ...{ usdAmount: '50.00', tokenAmount: (340n * 10n ** 18n).toString(), tokenDecimals: 18 },
          transactionHash: `0x${'c'.repeat(64)}`,
        },
      });
    });

    it('that is not written is not told', async () => {
      const one = await subscribe(admin, ['redemption.*']);
      const redemption = await bench.created({ partner: one.partnerId });
      await bench.called(redemption);
      await expect(bench.called(redemption)).rejects.toMatchObject({ code: 'REDEMPTION_STALE' });
      expect(await statuses(one)).toHaveLength(2);
    });
  });
});
