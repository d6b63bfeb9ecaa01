import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Redemption, type RedemptionLimits } from '#libs/domain';
import { aPartnerId } from '#libs/testing/partner';
import { LimitBreachedError } from '../index.js';
import { LedgerBench } from './ledger-bench.support.js';
import { aKey, aNewRedemption, someLimits, someWallet, START_MS } from './testing/builders.js';

const COOL_DOWN = { firstSeconds: 300, longestSeconds: 1500 };
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let bench: LedgerBench;
beforeAll(async () => {
  bench = await LedgerBench.start();
});
afterAll(() => bench.stop());

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

describe('a voucher that was not claimed', () => {
  it('counts in the day of its wallet, and not in that of its partner', async () => {
    const [partner, wallet] = [aPartnerId(), someWallet()];
    const made = await create(aNewRedemption({ wallet, partner, tokenAmount: 10n }));
    const budget = { walletDailyTokens: 15n };
    const next = () => aNewRedemption({ wallet, partner, tokenAmount: 6n }, START_MS + HOUR_MS);
    const dead = await bench.expired(await authorised(made));
    // At another partner, because at this one the redemption is still open.
    const other = aNewRedemption({ wallet, tokenAmount: 6n }, START_MS + HOUR_MS);
    expect((await breachOf(create(other, budget))).code).toBe('WALLET_BUDGET_SPENT');
    await bench.givenBack(dead);
    expect((await breachOf(create(next(), budget))).code).toBe('WALLET_BUDGET_SPENT');
    await create({ ...next(), tokenAmount: 5n }, { ...budget, partnerDailyTokens: 5n });
    const tomorrow = aNewRedemption({ wallet, tokenAmount: 15n }, START_MS + DAY_MS);
    await create(tomorrow, budget);
  });

  it('counts from the first moment of its UTC day to the last', async () => {
    const wallet = someWallet();
    const midnightMs = Math.ceil(START_MS / DAY_MS) * DAY_MS;
    const made = await create(aNewRedemption({ wallet, tokenAmount: 10n }, midnightMs));
    await bench.givenBack(await bench.expired(await authorised(made)));
    const at = (ms: number) =>
      create(aNewRedemption({ wallet, tokenAmount: 1n }, ms), { walletDailyTokens: 10n });
    for (const ms of [midnightMs, midnightMs + DAY_MS - 1])
      expect((await breachOf(at(ms))).code).toBe('WALLET_BUDGET_SPENT');
    for (const ms of [midnightMs - 1, midnightMs + DAY_MS]) await at(ms);
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

  it('waits from the moment that it is known to be dead, also while the points are still away', async () => {
    const wallet = someWallet();
    const dead = await bench.expired(await bench.authorised({ wallet }));
    const at = aNewRedemption({ wallet }, dead.stateSinceMs + 1000);
    const breach = await breachOf(create(at, { coolDown: COOL_DOWN }));
    expect(breach).toMatchObject({ code: 'VOUCHER_COOL_DOWN', retryAfterSeconds: 299 });
  });
});
