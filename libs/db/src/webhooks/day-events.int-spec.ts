/** Tests the events of the topic `day.sealed`. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { anInitialIndex, createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { type Database, DayEvents, IndexStore } from '../index.js';
import { eventsOf, seal, subscribe } from './webhook-bench.support.js';

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
