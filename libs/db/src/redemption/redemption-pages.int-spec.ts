import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Database, isIdPrefix, RedemptionPages, RedemptionStore } from '#libs/db';
import {
  type Redemption,
  type RedemptionEvent,
  type RedemptionState,
  type UuidV7,
} from '#libs/domain';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { aPartnerId } from '#libs/testing/partner';
import {
  aKey,
  aNewRedemption,
  aUuid,
  decided,
  someLimits,
  someWallet,
  START_MS,
} from './testing/builders.js';

let test: TestDatabase;
let database: Database;
let pages: RedemptionPages;
// Each test has its own database, because rows of these tables are never removed.
beforeEach(async () => {
  test = await createTestDatabase();
  database = await test.open();
  pages = new RedemptionPages(database);
});
afterEach(() => test.drop());

type Step = (before: Redemption) => RedemptionEvent;

const begin: Step = () => ({ type: 'call-due', requestId: aUuid() });
const cancel: Step = () => ({ type: 'cancel', by: 'user' });
const reuse: Step = ({ openCall }) => ({
  type: 'deduct-id-reused',
  requestId: openCall?.requestId ?? aUuid(),
});

/** Creates a redemption this number of milliseconds after START_MS. */
async function aStored(
  atMs: number,
  change: Partial<Redemption> = {},
  ...steps: readonly Step[]
): Promise<Redemption> {
  const store = new RedemptionStore(database);
  let redemption = aNewRedemption(change, START_MS + atMs);
  await store.create(redemption, aKey(), someLimits());
  for (const step of steps) {
    const event = step(redemption);
    const write = decided(redemption, event);
    await store.apply(write);
    redemption = write.decision.next;
  }
  return redemption;
}

async function idsOf(
  page: (after: never) => ReturnType<RedemptionPages['newest'] | RedemptionPages['open']>,
): Promise<UuidV7[][]> {
  const seen: UuidV7[][] = [];
  let after: unknown;
  do {
    const { found, next } = await page(after as never);
    seen.push(found.map(({ redemption }) => redemption.id));
    after = next;
  } while (after !== undefined);
  return seen;
}

describe('the newest first', () => {
  it('comes in pages that neither repeat nor leave out', async () => {
    const ids: UuidV7[] = [];
    for (let at = 0; at < 5; at++) ids.unshift((await aStored(at)).id);
    const seen = await idsOf((after) => pages.newest({}, { limit: 2, after }));
    expect(seen.map(({ length }) => length)).toEqual([2, 2, 1]);
    expect(seen.flat()).toEqual(ids);
    const whole = await idsOf((after) => pages.newest({}, { limit: 5, after }));
    expect(whole).toEqual([ids, []]);
  });

  it('goes on where it was while newer ones are made', async () => {
    const older = await aStored(0);
    const newer = await aStored(1);
    const first = await pages.newest({}, { limit: 1 });
    await aStored(2);
    const second = await pages.newest({}, { limit: 1, after: first.next });
    expect(first.found[0]?.redemption.id).toBe(newer.id);
    expect(second.found[0]?.redemption.id).toBe(older.id);
  });

  it('is narrowed by state, partner, wallet and the beginning of the id, together too', async () => {
    const [partner, wallet] = [aPartnerId(), someWallet()];
    const ours = await aStored(0, { partner, wallet }, cancel);
    const open = await aStored(1, { partner });
    await aStored(2);
    const found = async (filter: Parameters<RedemptionPages['newest']>[0]) =>
      (await pages.newest(filter, { limit: 10 })).found.map(({ redemption }) => redemption.id);
    expect(await found({ partner })).toEqual([open.id, ours.id]);
    expect(await found({ partner, state: 'created' })).toEqual([open.id]);
    expect(await found({ wallet })).toEqual([ours.id]);
    expect(await found({ state: 'failed' })).toEqual([ours.id]);
    expect(await found({ wallet, state: 'created' })).toEqual([]);
    expect(await found({ idPrefix: ours.id })).toEqual([ours.id]);
    const short = ours.id.slice(0, 24).toUpperCase();
    expect(await found({ idPrefix: short })).toEqual([ours.id]);
    expect(await found({ idPrefix: ours.id.replaceAll('-', '').slice(0, 20) })).toEqual([ours.id]);
    expect(await found({ idPrefix: ours.id.slice(0, 8) })).toHaveLength(3);
    expect(await found({ idPrefix: 'ffff' })).toEqual([]);
  });

  it.each(['', '-', 'g', "'", '%', '0'.repeat(33), `${'0'.repeat(36)}0`, '\0', 'Ａ'])(
    'finds nothing under %j, which is no beginning of an id',
    async (idPrefix) => {
      await aStored(0);
      expect(isIdPrefix(idPrefix)).toBe(false);
      expect(await pages.newest({ idPrefix }, { limit: 10 })).toEqual({
        found: [],
        unreadable: [],
        next: undefined,
      });
    },
  );
});

describe('what is open', () => {
  it('begins with what waits for an operator, each by how long it has waited, and ends with the page', async () => {
    const late = await aStored(50);
    const waiting = await aStored(10_000, {}, begin, reuse);
    const early = await aStored(5);
    const alsoWaiting = await aStored(10_001, { initialAtMs: START_MS + 1 }, begin, reuse);
    await aStored(1, {}, cancel);
    const seen = await idsOf((after) => pages.open({ limit: 1, after }));
    expect(seen.flat()).toEqual(
      [waiting, alsoWaiting]
        .sort((a, b) => a.stateSinceMs - b.stateSinceMs || (a.id < b.id ? -1 : 1))
        .concat([early, late])
        .map(({ id }) => id),
    );
  });

  it('leaves out what was settled by hand', async () => {
    const waiting = await aStored(0, {}, begin, reuse);
    await database.transaction(async (client) => {
      await client.query('SET LOCAL session_replication_role = replica');
      await client.query(`UPDATE redemption.redemption SET reason = 'settled-by-hand'`);
    });
    expect((await pages.open({ limit: 10 })).found).toEqual([]);
    expect((await pages.overview(0)).open).toEqual([]);
    expect((await pages.newest({}, { limit: 10 })).found[0]?.redemption.id).toBe(waiting.id);
  });
});

describe('the overview', () => {
  it('counts what is open, and what was made since, by state', async () => {
    const count = async (sinceMs: number) => {
      const { open, made } = await pages.overview(sinceMs);
      const pairs = (of: readonly { readonly state: RedemptionState; readonly count: number }[]) =>
        Object.fromEntries(of.map(({ state, count: counted }) => [state, counted]));
      return { open: pairs(open), made: pairs(made) };
    };
    expect(await count(0)).toEqual({ open: {}, made: {} });
    await aStored(0);
    await aStored(1000);
    await aStored(2000, {}, begin, reuse);
    await aStored(3000, {}, cancel);
    const open = { created: 2, attention: 1 };
    expect(await count(0)).toEqual({ open, made: { created: 2, attention: 1, failed: 1 } });
    expect(await count(START_MS + 2000)).toEqual({ open, made: { attention: 1, failed: 1 } });
    const [attention, created] = (await pages.overview(0)).open;
    expect(attention?.state).toBe('attention');
    expect(created?.oldestSeconds).toBeGreaterThan(0);
    expect(created?.longestSeconds).toBe(created?.oldestSeconds);
  });
});

it('tells those that cannot be read, and pages go on behind them', async () => {
  const readable = await aStored(0);
  const broken = await aStored(1);
  // Changes the row like an intruder who may disable the triggers.
  await database.transaction(async (client) => {
    await client.query('SET LOCAL session_replication_role = replica');
    await client.query(
      `UPDATE redemption.redemption SET state_since_at = '-infinity' WHERE id = $1`,
      [broken.id],
    );
  });
  const { found, unreadable, next } = await pages.newest({}, { limit: 1 });
  expect(found).toEqual([]);
  expect(unreadable).toMatchObject([{ redemptionId: broken.id }]);
  const behind = await pages.newest({}, { limit: 1, after: next });
  expect(behind.found.map(({ redemption }) => redemption.id)).toEqual([readable.id]);
  const seen = await idsOf((after) => pages.open({ limit: 1, after }));
  expect(seen).toEqual([[], [readable.id], []]);
});
