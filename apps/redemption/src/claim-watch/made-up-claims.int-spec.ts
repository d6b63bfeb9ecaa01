/** An endpoint invents claims, of open redemptions and of none: the vault is paused, and nothing else happens. */
import { expect, it } from '@jest/globals';
import { addressOfKey } from '#libs/chain';
import { RedemptionStore } from '#libs/db';
import { VaultBench } from '#libs/testing';
import {
  alerts,
  authorised,
  aWatch,
  bench,
  database,
  eachTest,
  isPaused,
  kinds,
  PAUSER_KEY,
} from './claim-watch.support.js';

eachTest();

it.each(['first', 'second'])(
  'a claim that the %s of two endpoints makes up pauses the vault, and moves no token and no point',
  async (place) => {
    // The endpoint serves another whole chain, so its headers, receipts and state fit together.
    const twin = await VaultBench.start({ pauser: addressOfKey(PAUSER_KEY) }, bench.chain.chainId);
    try {
      expect(twin.vault).toBe(bench.vault);
      const urls = [twin.chain.url, bench.chain.url];
      const watch = aWatch({ urls: place === 'first' ? urls : urls.reverse() });
      const { payout } = await authorised();
      await kinds(watch);
      twin.seconds = bench.seconds;
      const theft = twin.voucher({ amount: 10n ** 20n });
      expect(await twin.refusal(twin.claim(theft))).toBeUndefined();
      await twin.finalise();
      const held = await bench.tokens(bench.vault);
      const store = new RedemptionStore(database);
      const before = await store.get(payout.redemptionId);

      expect(await kinds(watch)).toEqual(['without-row']);
      expect(alerts.at(-1)?.detail).toContain(theft.vaultId);
      await bench.mine();
      expect(await isPaused()).toBe(true);
      expect(await bench.tokens(bench.vault)).toBe(held);
      expect(await bench.status(theft)).toBe(0);
      expect(await store.get(payout.redemptionId)).toEqual(before);
    } finally {
      await twin.stop();
    }
  },
);
