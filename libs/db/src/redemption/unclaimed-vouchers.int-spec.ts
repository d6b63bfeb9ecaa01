import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Redemption, type RedemptionEvent, type RedemptionLimits } from '#libs/domain';
import { aPartnerId, createTestDatabase, type TestDatabase } from '#libs/testing';
import { LimitBreachedError, RedemptionStore } from '../index.js';
import {
  aKey,
  aNewRedemption,
  aUuid,
  claimOf,
  decided,
  expiryOf,
  planOf,
  someLimits,
  someWallet,
  START_MS,
} from './testing/builders.js';

const COOL_DOWN = { firstSeconds: 300, longestSeconds: 1500 };
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let test: TestDatabase;
let store: RedemptionStore;
beforeAll(async () => {
  test = await createTestDatabase();
  store = new RedemptionStore(await test.open({ poolSize: 10 }));
});
afterAll(() => test.drop());

async function create(
  redemption: Redemption,
  limits: Partial<RedemptionLimits> = {},
): Promise<Redemption> {
  return (await store.create(redemption, aKey(), someLimits(limits))).redemption;
}

async function move(
  redemption: Redemption,
  ...steps: ((before: Redemption) => RedemptionEvent)[]
): Promise<Redemption> {
  let last = redemption;
  for (const step of steps) {
    const write = decided(last, step(last));
    await store.apply(write);
    last = write.decision.next;
  }
  return last;
}

const requestId = ({ openCall }: Redemption) => openCall?.requestId ?? aUuid();
const authorised: ((before: Redemption) => RedemptionEvent)[] = [
  () => ({ type: 'call-due', requestId: aUuid() }),
  (before) => ({
    type: 'deduct-confirmed',
    requestId: requestId(before),
    partnerTransactionId: `tx-${before.id}`,
  }),
  (before) => ({ type: 'plan-committed', plan: planOf(before) }),
];
const expired = (before: Redemption): RedemptionEvent => ({
  type: 'payout-dead',
  redemptionId: before.id,
  evidence: expiryOf(before),
});
const reverted: ((before: Redemption) => RedemptionEvent)[] = [
  (before) => ({ type: 'call-due', requestId: aUuid(), neverPaid: expiryOf(before) }),
  (before) => ({
    type: 'revert-confirmed',
    requestId: requestId(before),
    partnerTransactionId: `tx-${before.id}`,
    partnerRevertId: `rev-${before.id}`,
  }),
];

/** A wallet that let a voucher of 10 units expire, and the time at which its points came back. */
async function withUnclaimed(wallet = someWallet(), nowMs = START_MS) {
  const made = await create(aNewRedemption({ wallet, tokenAmount: 10n }, nowMs));
  const ended = await move(made, ...authorised, expired, ...reverted);
  return { wallet, endedAtMs: ended.revertedAtMs ?? 0 };
}

async function breachOf(creating: Promise<unknown>) {
  const error: unknown = await creating.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(LimitBreachedError);
  return (error as LimitBreachedError).breach;
}

describe('a voucher that was not claimed', () => {
  it('counts in the day of its wallet, and not in that of its partner', async () => {
    const partner = aPartnerId();
    const wallet = someWallet();
    const made = await create(aNewRedemption({ wallet, partner, tokenAmount: 10n }));
    const budget = { walletDailyTokens: 15n };
    const next = () => aNewRedemption({ wallet, partner, tokenAmount: 6n }, START_MS + HOUR_MS);
    const ended = await move(made, ...authorised, expired);
    // At another partner, because at this one the redemption is still open.
    const other = aNewRedemption({ wallet, tokenAmount: 6n }, START_MS + HOUR_MS);
    expect((await breachOf(create(other, budget))).code).toBe('WALLET_BUDGET_SPENT');
    await move(ended, ...reverted);
    expect((await breachOf(create(next(), budget))).code).toBe('WALLET_BUDGET_SPENT');
    await create({ ...next(), tokenAmount: 5n }, { ...budget, partnerDailyTokens: 5n });
    const tomorrow = aNewRedemption({ wallet, tokenAmount: 15n }, START_MS + DAY_MS);
    await create(tomorrow, budget);
  });

  it('counts from the first moment of its UTC day to the last', async () => {
    const midnightMs = Math.ceil(START_MS / DAY_MS) * DAY_MS;
    const { wallet } = await withUnclaimed(someWallet(), midnightMs);
    const at = (ms: number) =>
      create(aNewRedemption({ wallet, tokenAmount: 1n }, ms), { walletDailyTokens: 10n });
    for (const ms of [midnightMs, midnightMs + DAY_MS - 1])
      expect((await breachOf(at(ms))).code).toBe('WALLET_BUDGET_SPENT');
    for (const ms of [midnightMs - 1, midnightMs + DAY_MS]) await at(ms);
  });

  it('is none where there never was a voucher, or it was claimed', async () => {
    const budget = { walletDailyTokens: 10n, coolDown: COOL_DOWN };
    const wallet = someWallet();
    const made = await create(aNewRedemption({ wallet, tokenAmount: 10n }), budget);
    await move(made, () => ({ type: 'cancel', by: 'user' }));
    const again = await create(aNewRedemption({ wallet, tokenAmount: 4n }), budget);
    await move(again, ...authorised, (before) => ({
      type: 'payout-paid',
      redemptionId: before.id,
      evidence: claimOf(before),
    }));
    await create(aNewRedemption({ wallet, tokenAmount: 6n }), budget);
  });

  it('makes its wallet wait from its end on, whatever the partner', async () => {
    const { wallet, endedAtMs } = await withUnclaimed();
    const at = (ms: number) => create(aNewRedemption({ wallet }, ms), { coolDown: COOL_DOWN });
    const breach = await breachOf(at(endedAtMs + 299_000));
    expect(breach).toMatchObject({ code: 'VOUCHER_COOL_DOWN', retryAfterSeconds: 1 });
    expect(breach.message).toContain(new Date(endedAtMs + 300_000).toISOString());
    await at(endedAtMs + 300_000);
    await create(aNewRedemption({}, endedAtMs), { coolDown: COOL_DOWN });
  });

  it('makes it wait twice as long each time, up to the longest, and is forgotten after a week', async () => {
    const wallet = someWallet();
    let endedAtMs = 0;
    for (const seconds of [300, 600, 1200, 1500, 1500]) {
      ({ endedAtMs } = await withUnclaimed(wallet));
      const at = (ms: number) =>
        breachOf(create(aNewRedemption({ wallet }, ms), { coolDown: COOL_DOWN }));
      expect((await at(endedAtMs)).retryAfterSeconds).toBe(seconds);
    }
    const week = { wallet, tokenAmount: 1n };
    await create(aNewRedemption(week, endedAtMs + 7 * DAY_MS), { coolDown: COOL_DOWN });
  });

  it('waits from the moment that it is known to be dead, also while the points are still away', async () => {
    const wallet = someWallet();
    const made = await create(aNewRedemption({ wallet }));
    const dead = await move(made, ...authorised, expired);
    const at = aNewRedemption({ wallet }, dead.stateSinceMs + 1000);
    const breach = await breachOf(create(at, { coolDown: COOL_DOWN }));
    expect(breach).toMatchObject({ code: 'VOUCHER_COOL_DOWN', retryAfterSeconds: 299 });
  });
});
