/** Compares tiers of random histories with a brute-force oracle, day by day and block by block. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Address, type TierRule } from '#libs/domain';
import { aBlock, createTestDatabase, type TestDatabase, testSeeds } from '#libs/testing';
import { type Database, DayEvents, SubscriptionStore, TierEvents } from '../index.js';
import {
  DAYS,
  History,
  LAST,
  lastBlockOf,
  secondsOf,
  tierAfter,
  WALLETS,
} from './tier-history.support-spec.js';
import {
  AUDIT,
  DAY_SECONDS,
  eventsOf,
  finalTo,
  indexStakes,
  seal,
  subscribe,
} from './webhook-bench.support-spec.js';

let test: TestDatabase;
let admin: Database;
/** Connects like the service. */
let database: Database;
beforeEach(async () => {
  test = await createTestDatabase();
  admin = await test.open();
  database = await test.open({ url: test.urlAs('redemption') });
});
afterEach(() => test.drop());

/**
 * Both ways of reading give the same events: page by page through the changed wallets, or all
 * wallets from two changes on.
 */
const SIZES = [
  { page: 2, maxChangesForChangedPass: 1_000 },
  { page: 3, maxChangesForChangedPass: 1 },
] as const;

async function follow(id: string, sizes: (typeof SIZES)[number] = SIZES[0]): Promise<number> {
  const tiers = new TierEvents(database, 'default', sizes);
  expect(await tiers.followed()).toContain(id);
  let told = 0;
  for (;;) {
    const step = await tiers.step(id);
    told += step.told;
    if (!step.goesOn) return told;
  }
}

const RULES: readonly TierRule[] = [
  { measure: 'low', days: 1, thresholds: [5n, 15n, 25n], hysteresis: 0n },
  { measure: 'low', days: 1, thresholds: [10n, 20n], hysteresis: 6n },
  { measure: 'average', days: 3, thresholds: [4n, 9n, 20n], hysteresis: 1n },
  { measure: 'average', days: 7, thresholds: [6n], hysteresis: 2n },
  { measure: 'balance', days: 1, thresholds: [8n, 16n, 32n], hysteresis: 4n },
];

describe.each(testSeeds())('tiers of a random history by $which', ({ seed }) => {
  it.each(RULES.flatMap((rule) => SIZES.map((sizes) => ({ ...rule, sizes }))))(
    'are told as they change: $measure, $days days, hysteresis $hysteresis, $sizes.maxChangesForChangedPass changes are few',
    async ({ sizes, ...rule }) => {
      const history = new History(seed);
      await indexStakes(admin, history.steps, aBlock(LAST + 1, DAYS * DAY_SECONDS + 100));
      const one = await subscribe(admin, ['wallet.tier-changed'], rule);
      const expected: unknown[] = [];
      const tiers = new Map<Address, number>();
      for (let day = 2; day < DAYS; day += 1) {
        await finalTo(admin, lastBlockOf(day) + 1);
        await seal(admin, day, lastBlockOf(day));
        await follow(one.id, sizes);
        const point = rule.measure === 'balance' ? lastBlockOf(day) + 1 : day;
        for (const wallet of WALLETS) {
          const amount = history.measured(rule, wallet, point);
          const before = tiers.get(wallet) ?? 0;
          const tier = tierAfter(rule, before, amount);
          tiers.set(wallet, tier);
          if (day === 2 || tier === before) continue;
          const average = (amount / BigInt(rule.days)).toString();
          expected.push([
            wallet,
            before,
            tier,
            average,
            rule.measure === 'balance' ? point : dayOf(day),
          ]);
        }
      }
      const told = await eventsOf(admin, one);
      const seen = told.map(
        ({ data: { walletAddress, previousTier, tier, amount, day, blockNumber } }) => [
          ...[walletAddress, previousTier, tier, amount],
          day ?? blockNumber,
        ],
      );
      expect(seen).toEqual(expected);
      expect(seen.length).toBeGreaterThan(0);
      // The event names the threshold of its tier, so that a later change of the rule makes no difference.
      for (const { data } of told) {
        const reached = rule.thresholds[Number(data['tier']) - 1];
        expect(data['threshold']).toBe(reached === undefined ? null : String(reached));
      }
      expect(told.every(({ orderKey, data }) => orderKey === data['walletAddress'])).toBe(true);
    },
  );
});

const dayOf = (day: number): string =>
  new Date(day * DAY_SECONDS * 1000).toISOString().slice(0, 10);

describe('tiers', () => {
  const RULE: TierRule = { measure: 'low', days: 1, thresholds: [10n], hysteresis: 0n };
  const [ANN] = WALLETS as [Address];

  /** A stake of 5 on the first day, and of 50 from the third day on. */
  async function anIndex(): Promise<void> {
    const steps = [
      { block: 1, seconds: secondsOf(1), deltas: [{ wallet: ANN, amount: 5n }] },
      { block: 5, seconds: secondsOf(5), deltas: [{ wallet: ANN, amount: 45n }] },
    ];
    await indexStakes(admin, steps, aBlock(LAST + 1, DAYS * DAY_SECONDS + 100));
    await finalTo(admin, LAST + 1);
  }

  it.each([
    ['halted', `UPDATE staking.index_state SET halted_at = now(), halted_reason = 'test'`],
    ['not final', 'UPDATE staking.index_state SET finalised_number = 9, finalised_seconds = 9'],
    ['not verified', 'UPDATE staking.index_state SET verified_number = 9'],
    ['worked out again', 'INSERT INTO staking.seal_recheck VALUES (true, 2)'],
  ])('wait while the index is %s', async (_case, text) => {
    await anIndex();
    const one = await subscribe(admin, ['wallet.tier-changed'], RULE);
    await seal(admin, 1, 6);
    await follow(one.id);
    await seal(admin, 2, 9);
    await admin.query({ text });
    expect(await follow(one.id)).toBe(0);
    await admin.query({ text: 'DELETE FROM staking.seal_recheck' });
    await admin.query({
      text: 'UPDATE staking.index_state SET halted_at = NULL, halted_reason = NULL',
    });
    await finalTo(admin, LAST + 1);
    expect(await follow(one.id)).toBe(1);
  });

  it('begin anew and silently with another rule', async () => {
    await anIndex();
    const one = await subscribe(admin, ['wallet.tier-changed'], RULE);
    await seal(admin, 2, 9);
    await follow(one.id);
    const rule = { ...RULE, thresholds: [7n, 20n] };
    const { partnerId, id } = one;
    const store = new SubscriptionStore(admin);
    await store.change(partnerId, id, (before) => ({ ...before, rule }), AUDIT);
    await follow(id);
    expect(await eventsOf(admin, one)).toEqual([]);
    const { rows } = await admin.pool.query(
      'SELECT version, tier FROM webhooks.wallet_tier ORDER BY 1',
    );
    expect(rows).toEqual([
      { version: 1, tier: 1 },
      { version: 2, tier: 2 },
    ]);
  });

  it('are looked at again where a sealed day came out differently, each change once', async () => {
    await anIndex();
    const one = await subscribe(admin, ['wallet.tier-changed', 'day.sealed'], RULE);
    await seal(admin, 1, 6);
    await seal(admin, 2, 9);
    await new DayEvents(database, 'default').tell();
    await follow(one.id);
    await admin.query({
      text: 'UPDATE staking.balance_day SET low = 2, closing = 3 WHERE day = 1',
    });
    expect(await follow(one.id)).toBe(0);
    await seal(admin, 2, 9, 2);
    await new DayEvents(database, 'default').tell();
    expect(await follow(one.id)).toBe(1);
    expect(await follow(one.id)).toBe(0);
    const told = await eventsOf(admin, one);
    expect(
      told.map(({ type, data }) => [type, data['day'], data['revision'], data['tier']]),
    ).toEqual([
      ['day.sealed', '1970-01-02', 1, undefined],
      ['day.sealed', '1970-01-03', 1, undefined],
      ['day.sealed', '1970-01-03', 2, undefined],
      ['wallet.tier-changed', '1970-01-03', undefined, 0],
    ]);
  });

  it('look at all wallets where many changes would be read for each page', async () => {
    const history = new History(11);
    await indexStakes(admin, history.steps, aBlock(LAST + 1, DAYS * DAY_SECONDS + 100));
    await finalTo(admin, LAST + 1);
    const one = await subscribe(admin, ['wallet.tier-changed'], RULE);
    const passes = async (maxChangesForChangedPass: number): Promise<unknown> => {
      const tiers = new TierEvents(database, 'default', {
        page: 1,
        maxChangesForChangedPass,
      });
      await tiers.step(one.id);
      const { rows } = await admin.pool.query('SELECT pass FROM webhooks.tier_cursor');
      await follow(one.id);
      return rows[0];
    };
    await seal(admin, 0, lastBlockOf(0));
    expect(await passes(1)).toEqual({ pass: 'first' });
    const changes = (day: number): number =>
      history.steps
        .filter(({ block }) => block > lastBlockOf(day - 2) && block <= lastBlockOf(day))
        .reduce((sum, { deltas }) => sum + deltas.length, 0);
    await seal(admin, 1, lastBlockOf(1));
    expect(await passes(changes(1))).toEqual({ pass: 'changed' });
    await seal(admin, 2, lastBlockOf(2));
    expect(await passes(changes(2) - 1)).toEqual({ pass: 'again' });
  });

  it('are followed by one process at a time, and told once by several', async () => {
    const history = new History(7);
    await indexStakes(admin, history.steps, aBlock(LAST + 1, DAYS * DAY_SECONDS + 100));
    await finalTo(admin, LAST + 1);
    const one = await subscribe(admin, ['wallet.tier-changed'], RULE);
    await seal(admin, 0, 3);
    await follow(one.id);
    for (let day = 1; day < DAYS; day += 1) await seal(admin, day, lastBlockOf(day));
    const others = [await test.open({ url: test.urlAs('redemption') }), database];
    const steps = others.map(async (other) => {
      const tiers = new TierEvents(other, 'default', { page: 1, maxChangesForChangedPass: 9 });
      for (let step = 0; step < 300; step += 1) await tiers.step(one.id);
    });
    await Promise.all(steps);
    await follow(one.id);
    const told = await eventsOf(admin, one);
    const tiers = new Map<unknown, unknown>();
    for (const { data } of told) {
      expect(data['previousTier']).toBe(
        tiers.get(data['walletAddress']) ?? firstTier(history, data),
      );
      tiers.set(data['walletAddress'], data['tier']);
    }
    expect(told.length).toBeGreaterThan(3);
    for (const wallet of WALLETS) {
      const low = history.low(wallet, DAYS - 1);
      if (tiers.has(wallet)) expect(tiers.get(wallet)).toBe(low >= 10n ? 1 : 0);
    }
  });

  const firstTier = (history: History, data: Record<string, unknown>): number =>
    history.low(data['walletAddress'] as Address, 0) >= 10n ? 1 : 0;
});

describe('sealed days', () => {
  it('are told from the subscription on, once, to those who asked for them', async () => {
    await indexStakes(admin, [], aBlock(LAST + 1, DAYS * DAY_SECONDS + 100));
    await seal(admin, 0, 3);
    const one = await subscribe(admin, ['day.sealed']);
    const other = await subscribe(admin, ['redemption.*']);
    for (const day of [1, 2, 3]) await seal(admin, day, lastBlockOf(day));
    const days = new DayEvents(database, 'default');
    const again = new DayEvents(await test.open({ url: test.urlAs('redemption') }), 'default');
    await Promise.all([days.tell(), again.tell(), days.tell()]);
    await days.tell();
    expect((await eventsOf(admin, one)).map(({ data }) => data)).toEqual(
      [1, 2, 3].map((day) => ({
        ...{ stakeSet: 'default', day: dayOf(day), revision: 1, wallets: 1, total: '1' },
        ...{ root: `0x${'10'.repeat(32)}`, blockHash: `0x${'0b'.repeat(32)}` },
        ...{ blockNumber: lastBlockOf(day), tokenDecimals: 18 },
      })),
    );
    expect(await eventsOf(admin, other)).toEqual([]);
  });
});
