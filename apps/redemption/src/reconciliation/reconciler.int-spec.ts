/** The ledger compared with a real vault: claims with and without rows, interrupted runs, reorganisations. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { redemptionIdOf, RpcPool, vaultIdOf, type VaultPlace } from '#libs/chain';
import { type Database, KnownVaults, ReconciliationStore, RedemptionStore } from '#libs/db';
import { type Difference } from '#libs/domain';
import { FakeClock } from '#libs/testing/clock';
import { aWallet, createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { type FaultyNode, startFaultyNode } from '#libs/testing/fake-node';
import { VaultBench } from '#libs/testing/vault';
import { type Alert } from '../observe/alerts.js';
import { type CommittedPayout } from '../payout/payout.js';
import { type VoucherPayout } from '../payout/voucher-payout.js';
import { aUuid, Redemptions } from './redemptions.support.js';
import { aReconciler as reconcilerOf, aVoucherPayout } from '../testing/cancel-policy.support.js';
import { backTo } from '../testing/stage.support.js';

const { STRANGER, RECIPIENT } = VaultBench;
const HOUR_MS = 3_600_000;

describe('Reconciler', () => {
  let bench: VaultBench;
  let test: TestDatabase;
  let database: Database;
  let store: ReconciliationStore;
  let clock: FakeClock;
  let pool: RpcPool;
  let payouts: VoucherPayout;
  let redemptions: Redemptions;
  let alerts: Alert[];
  let wallets: number;
  const nodes: FaultyNode[] = [];

  let first: bigint;
  beforeAll(async () => {
    bench = await VaultBench.start();
    await bench.finalise();
    first = await bench.chain.player.head();
  });
  afterAll(() => bench.stop());
  beforeEach(async () => {
    await backTo(bench, first);
    test = await createTestDatabase();
    database = await test.open({ url: test.urlAs('redemption'), poolSize: 3 });
    store = new ReconciliationStore(database);
    clock = new FakeClock(bench.seconds * 1000);
    pool = aPool(bench.chain.url);
    payouts = aPayout();
    redemptions = new Redemptions(new RedemptionStore(database), payouts);
    alerts = [];
    wallets = 0x1000;
  });
  afterEach(async () => {
    await Promise.all(nodes.splice(0).map((node) => node.close()));
    await test.drop();
  });

  function aPool(...urls: string[]): RpcPool {
    return new RpcPool({ urls, clock, sleep: () => Promise.resolve() });
  }

  function aPayout(on = bench): VoucherPayout {
    const vaults = new KnownVaults(database);
    const { place } = on;
    return aVoucherPayout(bench, clock, { pool, place, voucherTtlSeconds: 86_400, vaults });
  }

  function aReconciler(changes: { place?: VaultPlace; finality?: string; pool?: RpcPool } = {}) {
    const raise = (alert: Alert) => alerts.push(alert);
    const reconciler = reconcilerOf(bench, clock, { store, raise, ...changes });
    return Object.assign(reconciler, { spanBlocks: 3n });
  }

  async function found(reconciler = aReconciler()): Promise<Partial<Difference>[]> {
    const differences = await reconciler.reconcile();
    if (!differences) throw new Error('somebody else is at it');
    return differences.map(({ kind, count, tokens }) => ({ kind, count, tokens }));
  }

  function authorised(tokenAmount?: bigint): Promise<CommittedPayout> {
    return redemptions.authorised(aWallet(wallets++), tokenAmount);
  }

  async function claimed(payout: CommittedPayout): Promise<void> {
    const { calldata } = await payouts.authorise({ ...payout, isSealed: true });
    const [outcome] = await bench.mine(bench.to(STRANGER, calldata as `0x${string}`));
    expect(outcome?.error).toBeUndefined();
  }

  /** A payout that was claimed in a final block, with the claim recorded in its row. */
  async function settled(tokenAmount?: bigint): Promise<CommittedPayout> {
    const payout = await authorised(tokenAmount);
    await claimed(payout);
    await bench.finalise();
    await redemptions.settled(payout);
    return payout;
  }

  async function sums() {
    const [checkpoint] = await store.checkpoints(bench.chain.chainId);
    return checkpoint?.claims;
  }

  it('agrees with claims that have their rows, day after day', async () => {
    await settled(100n);
    await settled(23n);
    expect(await found()).toEqual([]);
    expect(await sums()).toEqual({ count: 2, tokens: 123n });
    await settled(7n);
    await authorised();
    expect(await found()).toEqual([]);
    expect(await sums()).toEqual({ count: 3, tokens: 130n });
    expect(await found()).toEqual([]);
    const sides = { chain: { count: 3, tokens: 130n }, ledger: { count: 3, tokens: 130n } };
    expect(await store.lastRun()).toMatchObject({ ...sides, differences: [] });
    expect(alerts).toEqual([]);
  });

  it('waits for the worker to take a claim down, but not for ever', async () => {
    const payout = await authorised(100n);
    await claimed(payout);
    // It is not final yet.
    expect(await found()).toEqual([]);
    expect(await sums()).toEqual({ count: 0, tokens: 0n });
    await bench.finalise();
    expect(await found()).toEqual([]);
    clock.advance(HOUR_MS);
    expect(await found()).toEqual([]);
    clock.advance(1);
    expect(await found()).toEqual([{ kind: 'claim-overdue', count: 1, tokens: 100n }]);
    await redemptions.settled(payout);
    expect(await found()).toEqual([]);
  });

  it('raises the alarm at a claim without a row, until it is explained', async () => {
    await settled();
    const theft = bench.voucher({ amount: 77n });
    await bench.mine(await bench.claim(theft));
    await bench.finalise();
    const stolen = [{ kind: 'claim-without-row', count: 1, tokens: 77n }];
    expect(await found()).toEqual(stolen);
    expect(alerts).toMatchObject([
      {
        severity: 'critical',
        code: 'reconciliation-claim-without-row',
        detail: expect.stringContaining(String(redemptionIdOf(theft.vaultId))),
      },
    ]);
    expect(await found()).toEqual(stolen);
  });

  it('goes on from where a run was cut off', async () => {
    await settled();
    await settled();
    const stop = new AbortController();
    const advance = store.advance.bind(store);
    let spans = 0;
    store.advance = async (...given) => {
      const checkpoint = await advance(...given);
      if (++spans === 2) stop.abort(new Error('stopped'));
      return checkpoint;
    };
    await expect(aReconciler().reconcile(stop.signal)).rejects.toThrow('stopped');
    expect(spans).toBe(2);
    const [checkpoint] = await store.checkpoints(bench.chain.chainId);
    expect(checkpoint?.block?.number).toBe(5n);
    expect(await store.lastRun()).toBeUndefined();
    expect(await found()).toEqual([]);
    expect(await sums()).toEqual({ count: 2, tokens: 200n });
    const head = (await bench.chain.player.head()) - 4n;
    expect(spans).toBe(2 + Math.ceil((Number(head) - 5) / 3));
  });

  it('reads all again where the chain takes final blocks back, and raises the alarm', async () => {
    await settled();
    const hasty = aReconciler({ finality: 'depth:0' });
    await bench.mine(await bench.claim(bench.voucher({ amount: 5n })));
    expect(await found(hasty)).toEqual([{ kind: 'claim-without-row', count: 1, tokens: 5n }]);
    await bench.rollback(1);
    await bench.mine();
    expect(await found(hasty)).toEqual([{ kind: 'finality-broken', count: 2, tokens: 105n }]);
    expect(await found(hasty)).toEqual([]);
    expect(await sums()).toEqual({ count: 1, tokens: 100n });
    expect(alerts.map(({ code }) => code)).toEqual([
      'reconciliation-claim-without-row',
      'reconciliation-finality-broken',
    ]);
  });

  it('asks a second node, so that a claim which one leaves out is found', async () => {
    await bench.mine(await bench.claim(bench.voucher({ amount: 5n })));
    await bench.finalise();
    const node = await forgetful();
    const both = aPool(node.url, bench.chain.url);
    expect(await found(aReconciler({ pool: both }))).toEqual([
      { kind: 'claim-without-row', count: 1, tokens: 5n },
    ]);
  });

  it('reads again where the only node left out the claim of a row', async () => {
    await settled();
    const node = await forgetful();
    const missing = [{ kind: 'row-without-claim', count: 1, tokens: 100n }];
    expect(await found(aReconciler({ pool: aPool(node.url) }))).toEqual(missing);
    expect(await found()).toEqual([]);
    expect(await sums()).toEqual({ count: 1, tokens: 100n });
  });

  it('goes on with a vault that was replaced', async () => {
    const old = await authorised();
    expect(await found()).toEqual([]);
    const next = await bench.another({});
    await claimed(old);
    next.seconds = bench.seconds;
    const voucher = next.voucher({
      vaultId: vaultIdOf(aUuid()),
      recipient: RECIPIENT,
      amount: 9n,
    });
    await next.mine(await next.claim(voucher));
    await next.finalise();
    await redemptions.settled(old);
    expect(await found(aReconciler({ place: next.place }))).toEqual([
      { kind: 'claim-without-row', count: 1, tokens: 9n },
    ]);
    expect(await store.lastRun()).toMatchObject({ chain: { count: 2 }, ledger: { count: 1 } });
  });

  it('records nothing where the chain cannot be asked', async () => {
    const silent = aReconciler({ pool: aPool('http://127.0.0.1:9/') });
    await expect(silent.reconcile()).rejects.toMatchObject({ code: 'RPC_ALL_ENDPOINTS_FAILED' });
    expect(await store.lastRun()).toBeUndefined();
  });

  /** A node that answers every request for logs with an empty list. */
  async function forgetful(): Promise<FaultyNode> {
    const node = await startFaultyNode({
      upstream: bench.chain.url,
      fault: { kind: 'empty-logs' },
    });
    nodes.push(node);
    return node;
  }
});
