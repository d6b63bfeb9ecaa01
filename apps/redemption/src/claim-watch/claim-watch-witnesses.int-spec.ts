/** The claim watch with endpoints that give false answers, with two processes at a time, and with replaced vaults. */
import { describe, expect, it } from '@jest/globals';
import { addressOfKey } from '#libs/chain';
import { ClaimWatchStore, KnownVaults, RedemptionStore } from '#libs/db';
import { VaultBench } from '#libs/testing/vault';
import {
  aNode,
  aWatch,
  alerts,
  authorised,
  bench,
  database,
  eachTest,
  isPaused,
  kinds,
  nextBlock,
  PAUSER_KEY,
  steal,
  test,
} from './claim-watch.support.js';

const { RECIPIENT } = VaultBench;

eachTest();

describe('an endpoint', () => {
  it('that leaves a theft out hides nothing: both are named', async () => {
    const blind = await aNode({ kind: 'empty-logs' });
    for (const urls of [
      [blind, bench.chain.url],
      [bench.chain.url, blind],
    ]) {
      const watch = aWatch({ urls, pauserKey: null });
      await kinds(watch);
      await steal();
      expect(await kinds(watch)).toEqual(['without-row']);
      expect(alerts.at(-1)?.detail).toMatch(/shows it and .* does not: one of them is wrong/);
      expect(alerts.at(-1)?.detail).toContain(new URL(blind).port);
    }
  });

  it('that calls far blocks final makes the watch pass over none', async () => {
    const head = await bench.chain.player.head();
    const far = await aNode({
      kind: 'result',
      method: 'eth_getBlockByNumber',
      result: await bench.chain.rpc.call('eth_getBlockByNumber', 'latest', false),
    });
    await kinds(aWatch({ urls: [far, bench.chain.url] }));
    expect(await nextBlock()).toBe(head - 4n + 1n);
  });

  it('that cannot be asked holds the cursor back and keeps no theft from being told', async () => {
    await kinds();
    const before = await nextBlock();
    await steal();
    await bench.finalise();
    const urls = [bench.chain.url, 'http://127.0.0.1:9/'];
    expect(await kinds(aWatch({ urls }))).toEqual(['without-row']);
    expect(await nextBlock()).toBe(before);
    expect(await kinds()).toEqual([]);
    expect(await nextBlock()).toBeGreaterThan(before ?? 0n);
  });

  it.each(['first', 'second'])(
    'that makes up a claim, as the %s of two, pauses the vault, and moves no token and no point',
    async (place) => {
      // The endpoint serves another whole chain, so its headers, receipts and state fit together.
      const twin = await VaultBench.start(
        { pauser: addressOfKey(PAUSER_KEY) },
        bench.chain.chainId,
      );
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
});

describe('the watch', () => {
  it('is kept by one process at a time, and a theft is told by one of them', async () => {
    await kinds();
    await steal();
    const other = await test.open();
    const held = await new ClaimWatchStore(other).exclusively(() => aWatch().check());
    expect(held).toEqual({ result: undefined });
    const both = await Promise.all([aWatch().check(), aWatch().check()]);
    expect(both.flatMap((found) => found ?? [])).toHaveLength(1);
    expect(alerts).toHaveLength(1);
  });

  it.each(['api', 'indexer', 'cli'] as const)(
    'is not held up by who has the credential of the %s',
    async (program) => {
      await kinds();
      const { pool } = await test.open({ url: test.urlAs(program) });
      const client = await pool.connect();
      await client.query('BEGIN');
      await client.query('SELECT pg_advisory_lock(4215, n) FROM generate_series(0, 20) AS n');
      const lock = client.query('SELECT FROM redemption.task FOR UPDATE');
      await expect(lock).rejects.toMatchObject({ code: '42501' });
      await steal();
      expect(await kinds()).toEqual(['without-row']);
      client.release(true);
    },
  );

  it('looks at the vaults that were replaced as well', async () => {
    await kinds();
    const old = await bench.another({});
    await new KnownVaults(database).add(bench.place.chainId, { vault: old.vault, startBlock: 0n });
    await kinds();
    bench.seconds = old.seconds;
    const voucher = old.voucher({ recipient: RECIPIENT });
    await old.mine(await old.claim(voucher));
    expect(await kinds()).toEqual(['without-row']);
    expect(alerts[0]?.detail).toContain(old.vault);
  });
});
