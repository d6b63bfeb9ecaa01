import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { CoinStore } from './coin-store.js';
import { someWallet } from './testing/builders.js';

const CHAIN = 1;
const MORNING_MS = Date.UTC(2026, 0, 31, 6);
const ACCOUNT = someWallet();

let test: TestDatabase;
let store: CoinStore;
beforeEach(async () => {
  test = await createTestDatabase();
  store = new CoinStore(await test.open());
});
afterEach(() => test.drop());

const reserve = (wei: bigint, changes = {}, by = store) =>
  by.reserve({
    chainId: CHAIN,
    account: ACCOUNT,
    wei,
    dailyWei: 100n,
    nowMs: MORNING_MS,
    ...changes,
  });

// That it is counted up to its limit: test/simulation/engine/ledger/ledger-contract.int-spec.ts.
describe('the coin of a day', () => {
  it('is that of one account, of one chain, of one UTC day', async () => {
    await reserve(100n);
    expect(await reserve(100n, { chainId: 2 })).toBe(true);
    expect(await reserve(100n, { account: someWallet() })).toBe(true);
    const midnightMs = Date.UTC(2026, 1, 1);
    expect(await reserve(1n, { nowMs: midnightMs - 1 })).toBe(false);
    expect(await reserve(100n, { nowMs: midnightMs })).toBe(true);
  });

  it.each([
    ['lowered', 'wei = 59'],
    ['moved to another day', `day = '2000-01-01'`],
    ['moved to another account', `account = decode(repeat('ab', 20), 'hex')`],
  ])('is never %s, not by the service either', async (_what, change) => {
    await reserve(60n);
    const service = await test.open({ url: test.urlAs('redemption') });
    const forged = service.query({ text: `UPDATE redemption.coin_spent SET ${change}` });
    await expect(forged).rejects.toMatchObject({ sqlState: '23000' });
    expect(await store.spent(CHAIN, ACCOUNT, MORNING_MS)).toBe(60n);
    expect(await reserve(40n, {}, new CoinStore(service))).toBe(true);
  });

  it('is not passed by processes that ask at the same moment', async () => {
    const others = [store, new CoinStore(await test.open({ poolSize: 4 }))];
    const asked = Array.from({ length: 40 }, (_, index) =>
      reserve(7n, {}, others[index % 2] as CoinStore),
    );
    const granted = (await Promise.all(asked)).filter(Boolean).length;
    expect(granted).toBe(14);
    expect(await store.spent(CHAIN, ACCOUNT, MORNING_MS)).toBe(98n);
  });
});
