/**
 * Tokens of the vault, of the partner's day and of the wallet's day are reserved with the row that begins a deduction.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Redemption } from '#libs/domain';
import { aPartnerId } from '#libs/testing/partner';
import {
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
const ALL = 10n ** 30n;

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

describe('a redemption that was only asked for', () => {
  it('reserves nothing, however many there are', async () => {
    const partner = aPartnerId();
    const before = await stores[0].promisedTokens();
    const limits = someLimits({ partnerDailyTokens: 10n });
    for (let wallet = 0; wallet < 64; wallet++) {
      await stores[0].create(aNewRedemption({ partner, tokenAmount: 10n }), aKey(), limits);
    }
    expect(await stores[0].promisedTokens()).toBe(before);
    const honest = aNewRedemption({ partner, tokenAmount: 10n });
    await stores[0].create(honest, aKey(), limits);
    await begin(honest, { room: before + 10n, partnerDailyTokens: 10n });
  });
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
  it('is given back by what fails or is reverted, and not by what is claimed', async () => {
    const partner = aPartnerId();
    const budget = { partnerDailyTokens: 10n };
    const refused = await begin(await created({ partner }), budget);
    expect(await refusalOf(begin(await created({ partner }), budget))).toBe('budget-spent');
    const requestId = refused.openCall?.requestId ?? aUuid();
    await bench.after(refused, { type: 'deduct-refused', requestId, code: 'ERR-USER-NOT-FOUND' });
    const second = await bench.confirmed(await begin(await created({ partner }), budget));
    await bench.givenBack(await bench.cancelled(second));
    const third = await bench.confirmed(await begin(await created({ partner }), budget));
    await bench.paid(await bench.planned(third));
    expect(await refusalOf(begin(await created({ partner }), budget))).toBe('budget-spent');
    const { kept, counted, days } = await books();
    expect([kept, days]).toEqual([counted, 0]);
  });

  it.each([
    ['partner', { partner: aPartnerId() }, { partnerDailyTokens: 10n }],
    ['wallet', { wallet: someWallet() }, { walletDailyTokens: 10n }],
  ])('is of the UTC day of one %s on which the redemption was made', async (_, shared, budget) => {
    const midnightMs = Math.ceil(START_MS / DAY_MS) * DAY_MS;
    const at = async (atMs: number) => {
      const redemption = aNewRedemption({ ...shared, tokenAmount: 10n }, atMs);
      await stores[0].create(redemption, aKey(), someLimits(budget));
      await begin(redemption, budget);
    };
    // The first moment of a day, the last one of the day before, and the first one of the day after.
    for (const atMs of [midnightMs, midnightMs - 1, midnightMs + DAY_MS]) await at(atMs);
    for (const atMs of [midnightMs - DAY_MS, midnightMs + DAY_MS - 1]) {
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
