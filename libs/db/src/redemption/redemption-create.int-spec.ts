import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { aPartnerId } from '#libs/testing/partner';
import { RedemptionStore } from '../index.js';
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
    expect((await store.create(aNewRedemption(), key, someLimits())).isNew).toBe(true);
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
