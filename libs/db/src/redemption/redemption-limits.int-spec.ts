/**
 * What bounds redemptions: tokens of the vault, of a partner's day and of a wallet's day, which are reserved with the row
 * that begins a deduction; the waits of a wallet; the coin of a day. One step after the other is in
 * test/simulation/engine/ledger/ledger-contract.int-spec.ts; here are processes that act at once, and days.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Redemption, type RedemptionLimits } from '#libs/domain';
import { aPartnerId } from '#libs/testing/partner';
import {
  AttemptStore,
  CoinStore,
  type Database,
  LimitBreachedError,
  type ReservationLimits,
  ReservationRefusedError,
  RedemptionStore,
} from '../index.js';
import { LedgerBench } from './ledger-bench.support.js';
import {
  aKey,
  aNewRedemption,
  aUuid,
  decided,
  someLimits,
  someWallet,
  START_MS,
} from './testing/builders.js';

const DAY_MS = 86_400_000;
const MIDNIGHT_MS = Math.ceil(START_MS / DAY_MS) * DAY_MS;
const ALL = 10n ** 30n;
const COOL_DOWN = { firstSeconds: 300, longestSeconds: 1500 };

let bench: LedgerBench;
/** The stores of two workers. */
let stores: [RedemptionStore, RedemptionStore];
beforeAll(async () => {
  bench = await LedgerBench.start({ poolSize: 10 });
  stores = [
    bench.redemptions,
    new RedemptionStore(await bench.test.open({ poolSize: 10, applicationName: 'another worker' })),
  ];
});
afterAll(() => bench.stop());

async function created(change: Partial<Redemption> = {}, nowMs = START_MS): Promise<Redemption> {
  const redemption = aNewRedemption({ tokenAmount: 10n, ...change }, nowMs);
  await stores[0].create(redemption, aKey(), someLimits());
  return redemption;
}

/** Begins a deduction like a worker. */
async function begin(
  redemption: Redemption,
  reserve: Partial<ReservationLimits> = {},
  store = stores[0],
): Promise<Redemption> {
  const write = decided(redemption, { type: 'call-due', requestId: aUuid() });
  await store.apply({ ...write, reserve: { room: ALL, ...reserve } });
  return write.decision.next;
}

async function refusalOf(begun: Promise<unknown>): Promise<string> {
  const error: unknown = await begun.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ReservationRefusedError);
  return (error as ReservationRefusedError).reason;
}

/** The sums that the database keeps, and the sums over the rows themselves. */
async function books(): Promise<{ kept: string; counted: string; days: number }> {
  const [row] = await bench.database.query<{ kept: string; counted: string; days: number }>({
    text: `SELECT redemption.reserved_tokens('payouts')::text AS kept,
      (SELECT coalesce(sum(token_amount), 0)::text FROM redemption.redemption
        WHERE state IN ('deducting', 'deducted', 'authorised') OR resume = 'authorised') AS counted,
      (SELECT count(*)::int FROM (
        SELECT redemption.reserved_tokens(redemption.budget_subject(partner, initial_at)) AS kept,
          coalesce(sum(token_amount) FILTER (WHERE state NOT IN ('created', 'reverted', 'failed')), 0) AS counted
        FROM redemption.redemption GROUP BY partner, date_trunc('day', initial_at, 'UTC'), 1) d WHERE d.kept <> d.counted) AS days`,
  });
  if (row === undefined) throw new Error('no row');
  return row;
}

async function create(
  redemption: Redemption,
  limits: Partial<RedemptionLimits> = {},
): Promise<Redemption> {
  return (await bench.redemptions.create(redemption, aKey(), someLimits(limits))).redemption;
}

async function authorised(redemption: Redemption): Promise<Redemption> {
  const { calling } = await bench.called(redemption);
  return bench.planned(await bench.confirmed(calling));
}

async function breachOf(creating: Promise<unknown>) {
  const error: unknown = await creating.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(LimitBreachedError);
  return (error as LimitBreachedError).breach;
}

it('an idempotency key gives the same redemption again, also after it has moved on and the budget is spent', async () => {
  const [redemption, key] = [aNewRedemption(), aKey()];
  const limits = someLimits({ partnerDailyTokens: redemption.tokenAmount });
  expect(await stores[0].create(redemption, key, limits)).toEqual({ redemption, isNew: true });
  const write = decided(redemption, { type: 'cancel', by: 'user' });
  await stores[0].apply(write);
  const other = aNewRedemption({ wallet: redemption.wallet, partner: redemption.partner });
  const same = { redemption: write.decision.next, isNew: false };
  expect(await stores[0].create(other, key, limits)).toEqual(same);
  expect(await stores[0].replayed(redemption.wallet, key)).toEqual(same.redemption);
  expect(await stores[0].get(other.id)).toBeUndefined();
  expect((await stores[0].create(aNewRedemption(), key, someLimits())).isNew).toBe(true);
});

describe('50 deductions begun at once by two workers', () => {
  it.each([
    ['partner', { partner: aPartnerId() }, { partnerDailyTokens: 70n }],
    ['wallet', { wallet: someWallet() }, { walletDailyTokens: 70n }],
  ])('stay in the budget of one %s, to the token', async (_, shared, limits) => {
    const all = await Promise.all(Array.from({ length: 50 }, () => created(shared)));
    const ends = await Promise.allSettled(
      all.map((one, index) => begin(one, limits, stores[index % 2])),
    );
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(7);
    const states = await Promise.all(
      all.map(async ({ id }) => (await stores[0].get(id))?.redemption),
    );
    for (const [index, end] of ends.entries()) {
      expect(states[index]?.state).toBe(end.status === 'fulfilled' ? 'deducting' : 'created');
      if (end.status === 'rejected') expect(end.reason).toMatchObject({ reason: 'budget-spent' });
    }
    expect((await books()).days).toBe(0);
  });

  it('stay in what the vault can pay', async () => {
    const room = (await stores[0].promisedTokens()) + 79n;
    const all = await Promise.all(Array.from({ length: 50 }, () => created()));
    const ends = await Promise.allSettled(
      all.map((one, index) => begin(one, { room }, stores[index % 2])),
    );
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(7);
    for (const end of ends) {
      if (end.status === 'rejected')
        expect(end.reason).toMatchObject({ reason: 'payout-unavailable' });
    }
  });
});

describe('what is reserved', () => {
  it.each([
    ['partner', { partner: aPartnerId() }, { partnerDailyTokens: 10n }],
    ['wallet', { wallet: someWallet() }, { walletDailyTokens: 10n }],
  ])('is of the UTC day of one %s on which the redemption was made', async (_, shared, budget) => {
    const at = async (atMs: number) => {
      const redemption = aNewRedemption({ ...shared, tokenAmount: 10n }, atMs);
      await stores[0].create(redemption, aKey(), someLimits(budget));
      await begin(redemption, budget);
    };
    // The first moment of a day, the last one of the day before, and the first one of the day after.
    for (const atMs of [MIDNIGHT_MS, MIDNIGHT_MS - 1, MIDNIGHT_MS + DAY_MS]) await at(atMs);
    for (const atMs of [MIDNIGHT_MS - DAY_MS, MIDNIGHT_MS + DAY_MS - 1]) {
      await expect(at(atMs)).rejects.toThrow(LimitBreachedError);
      expect(await refusalOf(begin(await created(shared, atMs), budget))).toBe('budget-spent');
    }
  });

  it('is counted as it is where a redemption in attention is to go on another way, again and again', async () => {
    const planned = await bench.planned(await bench.confirmed(await begin(await created())));
    const before = await books();
    const cli = await bench.test.open({ url: bench.test.urlAs('cli') });
    for (let turn = 0; turn < 4; turn++) {
      await cli.transaction(async (client) => {
        await client.query(
          `UPDATE redemption.redemption SET state = 'attention', next_action_at = NULL, version = version + 1, resume = $2
            WHERE id = $1`,
          [planned.id, turn % 2 === 0 ? 'authorised' : 'reverting'],
        );
        await client.query(
          `INSERT INTO redemption.transition (redemption_id, version, event, to_state, actor)
            SELECT id, version, 'x', state, 'operator:x' FROM redemption.redemption WHERE id = $1`,
          [planned.id],
        );
      });
      const { kept, counted } = await books();
      expect(kept).toBe(counted);
      expect(BigInt(kept)).toBe(BigInt(before.kept) - (turn % 2 === 0 ? 0n : 10n));
    }
  });

  it('is only asked for where the row is still the one that was read', async () => {
    const redemption = await created();
    await bench.cancelled(redemption);
    await expect(begin(redemption, { room: 0n })).rejects.toMatchObject({
      code: 'REDEMPTION_STALE',
    });
  });
});

describe('a voucher that was not claimed', () => {
  it('counts from the first moment of its UTC day to the last', async () => {
    const wallet = someWallet();
    const made = await create(aNewRedemption({ wallet, tokenAmount: 10n }, MIDNIGHT_MS));
    await bench.givenBack(await bench.expired(await authorised(made)));
    const at = (ms: number) =>
      create(aNewRedemption({ wallet, tokenAmount: 1n }, ms), { walletDailyTokens: 10n });
    for (const ms of [MIDNIGHT_MS, MIDNIGHT_MS + DAY_MS - 1])
      expect((await breachOf(at(ms))).code).toBe('WALLET_BUDGET_SPENT');
    for (const ms of [MIDNIGHT_MS - 1, MIDNIGHT_MS + DAY_MS]) await at(ms);
  });

  it('is none where there never was a voucher, or it was claimed', async () => {
    const budget = { walletDailyTokens: 10n, coolDown: COOL_DOWN };
    const wallet = someWallet();
    await bench.cancelled(await create(aNewRedemption({ wallet, tokenAmount: 10n }), budget));
    const again = await create(aNewRedemption({ wallet, tokenAmount: 4n }), budget);
    await bench.paid(await authorised(again));
    await create(aNewRedemption({ wallet, tokenAmount: 6n }), budget);
  });

  it('makes its wallet wait longer each time, from its end on, whatever the partner, for a week', async () => {
    const wallet = someWallet();
    const at = (ms: number) =>
      create(aNewRedemption({ wallet, tokenAmount: 1n }, ms), { coolDown: COOL_DOWN });
    let endedAtMs = 0;
    for (const seconds of [300, 600]) {
      endedAtMs = (await bench.reverted({ wallet })).revertedAtMs ?? 0;
      const breach = await breachOf(at(endedAtMs + 1000));
      expect(breach).toMatchObject({ code: 'VOUCHER_COOL_DOWN', retryAfterSeconds: seconds - 1 });
      expect(breach.message).toContain(new Date(endedAtMs + seconds * 1000).toISOString());
    }
    await create(aNewRedemption({}, endedAtMs), { coolDown: COOL_DOWN });
    await at(endedAtMs + 600_000);
    const coolDown = { firstSeconds: 700_000, longestSeconds: 700_000 };
    const weekLater = aNewRedemption({ wallet }, endedAtMs + 7 * DAY_MS);
    await create(weekLater, { coolDown });
  });
});

it('a wallet that tries in vain waits once for attempts that were made together', async () => {
  const attempts = new AttemptStore(bench.database);
  const wallet = someWallet();
  const untils = await Promise.all(
    Array.from({ length: 20 }, () => attempts.note(wallet, START_MS)),
  );
  expect(new Set(untils)).toEqual(new Set([START_MS + 5000]));
  expect(await attempts.note(wallet, START_MS + 5000)).toBe(START_MS + 15_000);
  await attempts.forgetOld(START_MS + 15_001 + DAY_MS);
  const left = await bench.database.query({ text: 'SELECT FROM redemption.vain_attempt' });
  expect(left).toEqual([]);
});

// That it is counted up to its limit: test/simulation/engine/ledger/ledger-contract.int-spec.ts.
describe('the coin of a day', () => {
  let store: CoinStore;
  let service: Database;
  let account = someWallet();
  beforeAll(async () => {
    store = new CoinStore(bench.database);
    service = await bench.test.open({ url: bench.test.urlAs('redemption'), poolSize: 4 });
  });
  beforeEach(() => {
    account = someWallet();
  });

  const reserve = (wei: bigint, changes = {}, by = store) =>
    by.reserve({ ...{ chainId: 1, account, wei, dailyWei: 100n, nowMs: START_MS }, ...changes });

  it('is that of one account, of one chain, of one UTC day', async () => {
    await reserve(100n);
    expect(await reserve(100n, { chainId: 2 })).toBe(true);
    expect(await reserve(100n, { account: someWallet() })).toBe(true);
    expect(await reserve(1n, { nowMs: MIDNIGHT_MS - 1 })).toBe(false);
    expect(await reserve(100n, { nowMs: MIDNIGHT_MS })).toBe(true);
  });

  it.each([
    ['lowered', 'wei = 59'],
    ['moved to another day', `day = '2000-01-01'`],
    ['moved to another account', `account = decode(repeat('ab', 20), 'hex')`],
  ])('is never %s, not by the service either', async (_what, change) => {
    await reserve(60n);
    const forged = service.query({ text: `UPDATE redemption.coin_spent SET ${change}` });
    await expect(forged).rejects.toMatchObject({ sqlState: '23000' });
    expect(await store.spent(1, account, START_MS)).toBe(60n);
    expect(await reserve(40n, {}, new CoinStore(service))).toBe(true);
  });

  it('is not passed by processes that ask at the same moment', async () => {
    const others = [store, new CoinStore(service)];
    const asked = Array.from({ length: 40 }, (_, index) =>
      reserve(7n, {}, others[index % 2] as CoinStore),
    );
    const granted = (await Promise.all(asked)).filter(Boolean).length;
    expect(granted).toBe(14);
    expect(await store.spent(1, account, START_MS)).toBe(98n);
  });
});
