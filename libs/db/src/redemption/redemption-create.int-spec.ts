import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { aPartnerId, createTestDatabase, type TestDatabase } from '#libs/testing';
import { IdempotencyConflictError, RedemptionHints, RedemptionStore } from '../index.js';
import { aKey, aNewRedemption, decided, someLimits, someWallet } from './testing/builders.js';

let test: TestDatabase;
let store: RedemptionStore;
beforeAll(async () => {
  test = await createTestDatabase();
  store = new RedemptionStore(await test.open({ poolSize: 10 }));
});
afterAll(() => test.drop());

describe('creations at once', () => {
  it('let one open redemption of a wallet and partner through, of 20 at once', async () => {
    const shared = { partner: aPartnerId(), wallet: someWallet() };
    const ends = await Promise.allSettled(
      Array.from({ length: 20 }, () => store.create(aNewRedemption(shared), aKey(), someLimits())),
    );
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});

describe('an idempotency key', () => {
  it('gives the same redemption again, also after it has moved on and the budget is spent', async () => {
    const [redemption, key] = [aNewRedemption(), aKey()];
    const limits = someLimits({ partnerDailyTokens: redemption.tokenAmount });
    expect(await store.create(redemption, key, limits)).toEqual({ redemption, isNew: true });
    const write = decided(redemption, { type: 'cancel', by: 'user' });
    await store.apply(write);
    const other = aNewRedemption({ wallet: redemption.wallet, partner: redemption.partner });
    const same = { redemption: write.decision.next, isNew: false };
    expect(await store.create(other, key, limits)).toEqual(same);
    expect(await store.replayed(redemption.wallet, key)).toEqual(same.redemption);
    expect(await store.get(other.id)).toBeUndefined();
  });

  it('is refused with another body, and is nothing to another wallet', async () => {
    const [redemption, key] = [aNewRedemption(), aKey()];
    await store.create(redemption, key, someLimits());
    const changed = { ...key, bodyHash: Buffer.alloc(32, 2) };
    await expect(store.create(redemption, changed, someLimits())).rejects.toThrow(
      IdempotencyConflictError,
    );
    await expect(store.replayed(redemption.wallet, changed)).rejects.toThrow(
      IdempotencyConflictError,
    );
    expect(await store.replayed(someWallet(), key)).toBeUndefined();
    const elsewhere = await store.create(aNewRedemption(), changed, someLimits());
    expect(elsewhere.isNew).toBe(true);
  });

  it('makes one redemption of 20 requests at once', async () => {
    const [shared, key] = [{ partner: aPartnerId(), wallet: someWallet() }, aKey()];
    const made = await Promise.all(
      Array.from({ length: 20 }, () => store.create(aNewRedemption(shared), key, someLimits())),
    );
    expect(new Set(made.map(({ redemption }) => redemption.id)).size).toBe(1);
    expect(made.filter(({ isNew }) => isNew)).toHaveLength(1);
  });
});

describe('RedemptionHints', () => {
  it('tells of a new redemption, and of the loss of its connection', async () => {
    let hints = 0;
    const lost: Error[] = [];
    const listener = {
      onHint: () => (hints += 1),
      onLost: (error: Error) => lost.push(error),
    };
    const listening = new RedemptionHints({ url: test.url, applicationName: 'hints' });
    await listening.start(listener);
    await store.create(aNewRedemption(), aKey(), someLimits());
    while (hints === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const database = await test.open();
    await database.pool.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'hints'`,
    );
    while (lost.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await listening.start(listener);
    await listening.stop();
    expect(lost).toHaveLength(1);
  });
});
