/** What is told as events: sealed days, and the statuses of redemptions. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { anInitialIndex, createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { type Database, DayEvents, IndexStore } from '../index.js';
import { LedgerBench } from '../redemption/ledger-bench.support.js';
import { eventsOf, seal, subscribe, type Subscribed } from './webhook-bench.support.js';

let test: TestDatabase;
let admin: Database;
/** Connects like the service, which has no right to write events. */
let database: Database;
beforeAll(async () => {
  test = await createTestDatabase();
  admin = await test.open();
  database = await test.open({ url: test.urlAs('redemption') });
});
beforeEach(() => test.empty());
afterAll(() => test.drop());

const dayOf = (day: number): string => new Date(day * 86_400_000).toISOString().slice(0, 10);

describe('sealed days', () => {
  it('are told from the subscription on, once, to those who asked for them', async () => {
    await new IndexStore(admin).create(anInitialIndex());
    await seal(admin, 0, 3);
    const one = await subscribe(admin, ['day.sealed']);
    const other = await subscribe(admin, ['redemption.*']);
    for (const day of [1, 2, 3]) await seal(admin, day, 3 * day + 3);
    const days = new DayEvents(database, 'default');
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
    const days = new DayEvents(database, 'default');
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
    bench = new LedgerBench(test, database);
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
