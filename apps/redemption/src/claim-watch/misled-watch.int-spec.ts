/**
 * The claim watch with endpoints that give false answers, with two processes at a time, with replaced vaults, and with
 * an intruder who has the service's database credential, which can write the watch's own tables, and the stolen key of
 * the signer. The intruder can suppress the alert and the pause for a theft, or cause a pause without a theft. The theft
 * stays within the cap, and the reconciliation finds it. A voucher that the intruder marks as dead and then claims is
 * told.
 */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { addressOfKey, vaultIdOf } from '#libs/chain';
import {
  ClaimWatchStore,
  type Database,
  KnownVaults,
  ReconciliationStore,
  RedemptionStore,
} from '#libs/db';
import { aWallet } from '#libs/testing/database';
import { VaultBench } from '#libs/testing/vault';
import { aReconciler } from '../testing/cancel-policy.support.js';
import { writeOff } from '../testing/write-off.support.js';
import {
  aNode,
  aWatch,
  alerts,
  authorised,
  bench,
  clock,
  database,
  eachTest,
  isPaused,
  kinds,
  nextBlock,
  PAUSER_KEY,
  steal,
  test,
  THIEF,
} from './claim-watch.support.js';

const { RECIPIENT } = VaultBench;
const CAP = 10n ** 24n;

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

let intruder: Database;

const bytes = (hex: string) => Buffer.from(hex.replace('0x', ''), 'hex');

/** Writes a forged alarm about a claim of this id in this transaction. */
async function writeAlarm(vaultId: string, transaction: string, isPaused: boolean): Promise<void> {
  await intruder.query(
    {
      text: `INSERT INTO redemption.claim_alarm (chain_id, vault, vault_id, transaction_hash, block_number, block_at,
          recipient, amount, kind, may_be_lost, found_at, paused_at)
        VALUES ($1, $2, $3, $4, 1, now(), $5, 1, 'without-row', false, now(), $6)`,
    },
    [
      bench.place.chainId,
      bytes(bench.vault),
      bytes(vaultId),
      bytes(transaction),
      bytes(THIEF),
      isPaused ? new Date(clock.nowMs()) : null,
    ],
  );
}

async function reconciled() {
  await bench.finalise();
  const reconciler = aReconciler(bench, clock, {
    store: new ReconciliationStore(database),
    raise: (alert) => alerts.push(alert),
  });
  const found = (await reconciler.reconcile()) ?? [];
  return found.map(({ kind, tokens }) => ({ kind, tokens }));
}

describe('the credential of the redemption service', () => {
  beforeEach(async () => {
    intruder = await test.open({ url: test.urlAs('redemption') });
    // The watch has its cursors now.
    await kinds();
  });

  it('hides no theft by a cursor that is far ahead: what is not final yet is read at each look', async () => {
    await intruder.query({ text: 'UPDATE redemption.claim_watch SET next_block = 1000000000' });
    await steal();
    expect(await kinds()).toEqual(['without-row']);
    await bench.mine();
    expect(await isPaused()).toBe(true);
  });

  it('hides a theft by an alarm that is there already: up to the cap, until the reconciliation', async () => {
    const voucher = bench.voucher({ recipient: THIEF, amount: CAP });
    const [outcome] = await bench.mine(await bench.claim(voucher));
    await writeAlarm(voucher.vaultId, outcome?.transactionHash ?? '', true);
    expect(await kinds()).toEqual([]);
    await bench.mine();
    expect([alerts, await isPaused()]).toEqual([[], false]);
    expect(await bench.refusal(bench.claim(bench.voucher({ amount: 1n })))).toBe(
      'WindowCapExceeded',
    );
    expect(await bench.tokens(THIEF)).toBe(CAP);
    expect(await reconciled()).toEqual([{ kind: 'claim-without-row', tokens: CAP }]);
    expect(alerts).toMatchObject([{ severity: 'critical' }]);
  });

  it('has the vault paused for nothing by an alarm that is made up: no token moves', async () => {
    const held = await bench.tokens(bench.vault);
    const id = vaultIdOf('0199d000-0000-7000-8000-00000000dead');
    await writeAlarm(id, `0x${'ab'.repeat(32)}`, false);
    await kinds();
    await bench.mine();
    expect(await isPaused()).toBe(true);
    expect(await bench.tokens(bench.vault)).toBe(held);
    expect(await bench.tokens(aWallet(0xdead))).toBe(0n);
  });
});

// worker/forged-rows.int-spec.ts tests that no points go back.
describe.each(['redemption', 'cli'] as const)('the credential of %s', (program) => {
  it('marks a voucher as dead: its claim is told before it is final, and pauses the vault', async () => {
    await kinds();
    const { payout, payouts } = await authorised();
    const { redemptionId } = payout;
    const { calldata } = await payouts.authorise({ ...payout, isSealed: true });
    await writeOff({ test, program, nowMs: clock.nowMs() }, redemptionId);
    await bench.mine(bench.to(VaultBench.STRANGER, calldata as `0x${string}`));
    expect(await kinds()).toEqual(['unpayable']);
    expect(alerts).toMatchObject([{ code: 'claim-unauthorised', redemptionId }]);
    await bench.mine();
    expect(await isPaused()).toBe(true);
    expect(await bench.refusal(bench.claim(bench.voucher()))).toBe('EnforcedPause');
  });
});
