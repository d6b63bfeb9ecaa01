/**
 * Thefts on a real vault: detected before they are final, reported once, and stopped where a pauser's key is set; also
 * with endpoints that give false answers, two processes at a time, replaced vaults, and an intruder who has the
 * service's database credential, which can write the watch's own tables, and the stolen key of the signer. The intruder
 * can suppress the alert and the pause for a theft, or cause a pause without a theft. The theft stays within the cap, and
 * the reconciliation finds it. A voucher that the intruder marks as dead and then claims is told.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, describe, it } from '@jest/globals';
import { addressOfKey, RpcPool, type Voucher, vaultIdOf } from '#libs/chain';
import {
  ClaimWatchStore,
  CoinStore,
  type Database,
  KnownVaults,
  RedemptionStore,
  LedgerRestoreStore,
  ReconciliationStore,
} from '#libs/db';
import { mintUuidV7, type UuidV7 } from '#libs/domain';
import { createLogger } from '#libs/service';
import { FakeClock } from '#libs/testing/clock';
import { aWallet, createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { type Fault, type FaultyNode, startFaultyNode } from '#libs/testing/fake-node';
import { VaultBench } from '#libs/testing/vault';
import { GasBudget } from '../chain/gas-budget.js';
import { type Alert } from '../observe/alerts.js';
import { VaultAccounts } from '../payout/vault-accounts.js';
import { type VoucherPayout } from '../payout/voucher-payout.js';
import { Redemptions } from '../reconciliation/redemptions.support.js';
import {
  alertsTo,
  aVoucherPayout,
  someSettings,
  aReconciler,
} from '../testing/cancel-policy.support.js';
import { backTo } from '../testing/stage.support.js';
import { ClaimWatch } from './claim-watch.js';
import { writeOff } from '../testing/write-off.support.js';

const { RECIPIENT, SIGNER_KEY, STRANGER } = VaultBench;
const CAP = 10n ** 24n;
const PAUSER_KEY = '44'.repeat(32);
const PAUSER = addressOfKey(PAUSER_KEY);
const THIEF = aWallet(0x7e1f);

let bench: VaultBench;
let test: TestDatabase;
let database: Database;
let clock: FakeClock;
let alerts: Alert[];
let wallets: number;
const nodes: FaultyNode[] = [];

let first: bigint;
beforeAll(async () => {
  bench = await VaultBench.start({ pauser: PAUSER });
  await bench.chain.rpc.call('anvil_setBalance', PAUSER, '0xde0b6b3a7640000');
  await bench.finalise();
  first = await bench.chain.player.head();
});
beforeEach(async () => {
  await backTo(bench, first);
  test = await createTestDatabase();
  database = await test.open({ poolSize: 4 });
  clock = new FakeClock(bench.seconds * 1000);
  alerts = [];
  wallets = 0x1000;
});
afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.close()));
  await test.drop();
});
afterAll(() => bench.stop());

async function aNode(...fault: Fault[]): Promise<string> {
  const node = await startFaultyNode({ upstream: bench.chain.url, fault });
  nodes.push(node);
  return node.url;
}

interface Changes {
  readonly urls?: readonly string[];
  /** null: no pauser. */
  readonly pauserKey?: string | null;
}

function aWatch({ urls = [bench.chain.url], pauserKey = PAUSER_KEY }: Changes = {}): ClaimWatch {
  const pool = new RpcPool({ urls, clock, sleep: () => Promise.resolve() });
  const settings = someSettings({
    chainId: bench.place.chainId,
    vaultContract: bench.place.vault,
    vaultStartBlock: 0n,
    finality: 'finalized',
    voucherSignerKey: SIGNER_KEY,
    ...(pauserKey !== null && { vaultPauserKey: pauserKey }),
    gasDailyCoin: 10n ** 18n,
  });
  const budget = new GasBudget(settings, new CoinStore(database), clock);
  return new ClaimWatch(
    settings,
    pool,
    new ClaimWatchStore(database),
    new VaultAccounts(settings, pool, budget),
    alertsTo((alert) => alerts.push(alert)),
    clock,
    createLogger({ app: 'test', level: 'silent' }),
  );
}

async function kinds(watch = aWatch()): Promise<string[]> {
  const found = await watch.check();
  if (!found) throw new Error('another process is at it');
  return found.map(({ kind }) => kind);
}

/** Makes the payouts that the service itself signs. */
function aPayout(): VoucherPayout {
  return aVoucherPayout(bench, clock, { vaults: new KnownVaults(database) });
}

async function authorised() {
  const payouts = aPayout();
  const redemptions = new Redemptions(new RedemptionStore(database), payouts);
  const payout = await redemptions.authorised(aWallet(wallets++));
  return { payout, payouts, redemptions };
}

/** Claims a voucher that was signed with the stolen key of the signer. */
async function steal(changes: Partial<Voucher> = {}): Promise<UuidV7> {
  const id = mintUuidV7(clock.nowMs(), randomBytes(10));
  const voucher = bench.voucher({ vaultId: vaultIdOf(id), recipient: THIEF, ...changes });
  expect(await bench.refusal(bench.claim(voucher))).toBeUndefined();
  return id;
}

async function nextBlock(): Promise<bigint | undefined> {
  const [watched] = await new ClaimWatchStore(database).vaults(bench.place, 0n);
  return watched?.nextBlock;
}

const isPaused = () => bench.view('paused');

describe('a claim that was authorised', () => {
  it('is nothing to tell, and final ones are read once', async () => {
    expect(await kinds()).toEqual([]);
    const { payout, payouts, redemptions } = await authorised();
    const { calldata } = await payouts.authorise({ ...payout, isSealed: true });
    await bench.mine(bench.to(STRANGER, calldata as `0x${string}`));
    expect(await kinds()).toEqual([]);
    await bench.finalise();
    const before = await nextBlock();
    expect(await kinds()).toEqual([]);
    await redemptions.settled(payout);
    expect(await kinds()).toEqual([]);
    const head = await bench.chain.player.head();
    expect(before).toBeLessThan(head);
    expect(await nextBlock()).toBe(head - 4n + 1n);
    expect(alerts).toEqual([]);
    await bench.mine();
    expect(await isPaused()).toBe(false);
  });
});

describe('a claim that nothing authorised', () => {
  it('is told before it is final, once, with all there is to know, and pauses the vault', async () => {
    await kinds();
    const redemptionId = await steal({ amount: 777n });
    expect(await kinds()).toEqual(['without-row']);
    expect(alerts).toEqual([
      {
        severity: 'critical',
        code: 'claim-unauthorised',
        redemptionId,
        detail: expect.stringMatching(
          new RegExp(
            `^${bench.vault} paid 777 .* to ${THIEF}, signed by 0x.*no redemption has this id$`,
          ),
        ),
      },
    ]);
    await bench.mine();
    expect(await isPaused()).toBe(true);
    expect(await bench.refusal(bench.claim(bench.voucher()))).toBe('EnforcedPause');
    await bench.finalise();
    expect(await kinds()).toEqual([]);
    expect(alerts).toHaveLength(1);
  });

  it('pauses once: what an administrator unpauses stays so, until the next theft', async () => {
    await kinds();
    await steal();
    await kinds();
    await bench.mine();
    await kinds();
    await bench.mine(bench.call(bench.admin, 'unpause'));
    await kinds();
    await bench.mine();
    expect(await isPaused()).toBe(false);
    await steal();
    await kinds();
    await bench.mine();
    expect(await isPaused()).toBe(true);
    expect(alerts).toHaveLength(2);
  });

  it('raises no alert if the pause comes into a block while the vault is asked', async () => {
    await kinds();
    await steal();
    await kinds();
    await bench.mine();
    expect(await isPaused()).toBe(true);
    const notPaused = `0x${'00'.repeat(32)}`;
    const late = await aNode({ kind: 'result', method: 'eth_call', result: notPaused, times: 1 });
    expect(await kinds(aWatch({ urls: [late] }))).toEqual([]);
    expect(alerts).toHaveLength(1);
  });

  it.each<[string, Partial<Voucher>]>([
    ['amount', { amount: 101n }],
    ['recipient', { recipient: THIEF }],
  ])('of the plan’s %s: found at the redemption', async (_field, changes) => {
    await kinds();
    const { payout } = await authorised();
    const { redemptionId, plan } = payout;
    const voucher = { ...plan, vaultId: vaultIdOf(redemptionId), ...changes };
    expect(await bench.refusal(bench.claim(voucher))).toBeUndefined();
    expect(await kinds()).toEqual(['different']);
    expect(alerts).toMatchObject([{ code: 'claim-unauthorised', redemptionId }]);
  });

  it('is told where there is no key to pause, and where the key lacks the role', async () => {
    await kinds();
    await steal();
    expect(await kinds(aWatch({ pauserKey: null }))).toEqual(['without-row']);
    await kinds(aWatch({ pauserKey: VaultBench.OTHER_KEY }));
    await bench.mine();
    expect(await isPaused()).toBe(false);
    expect(alerts).toMatchObject([
      { code: 'claim-unauthorised' },
      {
        severity: 'critical',
        code: 'vault-not-paused',
        detail: expect.stringMatching(/lacks PAUSER_ROLE.*Pause it by hand/),
      },
    ]);
  });

  it('of a contract that only the database names makes the service sign nothing', async () => {
    const named = aWallet(0x515c);
    // A contract that accepts any call.
    await bench.chain.rpc.call('anvil_setCode', named, '0x00');
    await bench.mine();
    const service = await test.open({ url: test.urlAs('redemption') });
    const place = [bench.place.chainId, Buffer.from(named.slice(2), 'hex')];
    await service.query(
      {
        text: `INSERT INTO redemption.reconciliation_checkpoint (chain_id, vault, start_block) VALUES ($1, $2, 0)`,
      },
      place,
    );
    await service.query(
      {
        text: `INSERT INTO redemption.claim_alarm (chain_id, vault, vault_id, transaction_hash, block_number, block_at,
            recipient, amount, kind, may_be_lost, found_at)
          VALUES ($1, $2, $3, $3, 1, now(), $4, 1, 'without-row', false, now())`,
      },
      [...place, Buffer.alloc(32, 0xab), Buffer.alloc(20, 0xef)],
    );
    await kinds();
    await bench.mine();
    expect(await bench.chain.rpc.call('eth_getTransactionCount', PAUSER, 'latest')).toBe('0x0');
    expect(alerts).toMatchObject([
      { code: 'vault-not-paused', detail: expect.stringContaining(`${named} could not be paused`) },
    ]);
  });

  it('pauses nothing at any price', async () => {
    await kinds();
    await steal();
    const result = `0x${(9_000_000n * 10n ** 9n).toString(16)}`;
    const url = await aNode({ kind: 'result', method: 'eth_gasPrice', result });
    await kinds(aWatch({ urls: [url] }));
    await bench.mine();
    expect(await isPaused()).toBe(false);
    expect(alerts).toMatchObject([
      { code: 'claim-unauthorised' },
      { code: 'vault-gas-refused', detail: expect.stringMatching(/13500000 gwei.* the 0\.5 that/) },
    ]);
  });

  it('of which a restored ledger may have lost the redemption is told and pauses nothing', async () => {
    await kinds();
    await steal();
    await new LedgerRestoreStore(database).record({
      lostSinceMs: bench.seconds * 1000 - 60_000,
      nowMs: clock.nowMs() + 60_000,
      voucherSeconds: 600,
      actor: 'operator:test',
      command: 'ledger restored',
      arguments: {},
    });
    expect(await kinds()).toEqual(['without-row']);
    await bench.mine();
    expect(await isPaused()).toBe(false);
    expect(alerts).toMatchObject([{ detail: expect.stringContaining('no pause') }]);
  });
});

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

  it('that makes up a claim pauses the vault, and moves no token and no point', async () => {
    // The endpoint serves another whole chain, so its headers, receipts and state fit together.
    const twin = await VaultBench.start({ pauser: addressOfKey(PAUSER_KEY) }, bench.chain.chainId);
    try {
      expect(twin.vault).toBe(bench.vault);
      const watch = aWatch({ urls: [bench.chain.url, twin.chain.url] });
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
  });
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

  it('is not held up by the credential of another program', async () => {
    await kinds();
    const { pool } = await test.open({ url: test.urlAs('cli') });
    const client = await pool.connect();
    await client.query('BEGIN');
    await client.query('SELECT pg_advisory_lock(4215, n) FROM generate_series(0, 20) AS n');
    const lock = client.query('SELECT FROM redemption.task FOR UPDATE');
    await expect(lock).rejects.toMatchObject({ code: '42501' });
    await steal();
    expect(await kinds()).toEqual(['without-row']);
    client.release(true);
  });

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

  // worker/forged-rows.int-spec.ts tests that no points go back.
  it('marks a voucher as dead: its claim is told before it is final, and pauses the vault', async () => {
    const { payout, payouts } = await authorised();
    const { redemptionId } = payout;
    const { calldata } = await payouts.authorise({ ...payout, isSealed: true });
    await writeOff({ test, program: 'redemption', nowMs: clock.nowMs() }, redemptionId);
    await bench.mine(bench.to(VaultBench.STRANGER, calldata as `0x${string}`));
    expect(await kinds()).toEqual(['unpayable']);
    expect(alerts).toMatchObject([{ code: 'claim-unauthorised', redemptionId }]);
    await bench.mine();
    expect(await isPaused()).toBe(true);
    expect(await bench.refusal(bench.claim(bench.voucher()))).toBe('EnforcedPause');
  });
});
