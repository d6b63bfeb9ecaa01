/** Thefts on a real vault: noticed before they are final, told once, and stopped where there is a key for it. */
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { addressOfKey, ClaimReader, RpcPool, type Voucher, vaultIdOf } from '#libs/chain';
import {
  ClaimStore,
  ClaimWatchStore,
  CoinStore,
  type Database,
  KnownVaults,
  LedgerRestoreStore,
  RedemptionStore,
} from '#libs/db';
import { mintUuidV7, type UuidV7 } from '#libs/domain';
import { createLogger, Registry } from '#libs/platform';
import {
  aWallet,
  createTestDatabase,
  FakeClock,
  type Fault,
  type FaultyNode,
  startFaultyNode,
  type TestDatabase,
  VaultBench,
} from '#libs/testing';
import { type Alert } from '../observe/alerts.js';
import { createVaultAccount } from '../payout/vault-account.factory.js';
import { VoucherPayout } from '../payout/voucher-payout.js';
import { Redemptions } from '../reconciliation/redemptions.support-spec.js';
import { aCancelPolicy } from '../testing/cancel-policy.support-spec.js';
import { ClaimWatch } from './claim-watch.js';
import { gaugeClaimWatch } from './create-claim-watch.js';

const { SIGNER_KEY, STRANGER, RECIPIENT } = VaultBench;
const PAUSER_KEY = '44'.repeat(32);
const THIEF = aWallet(0x7e1f);

let bench: VaultBench;
let test: TestDatabase;
let database: Database;
let clock: FakeClock;
let alerts: Alert[];
let wallets: number;
const nodes: FaultyNode[] = [];

beforeEach(async () => {
  bench = await VaultBench.start({ pauser: addressOfKey(PAUSER_KEY) });
  await bench.chain.rpc.call('anvil_setBalance', addressOfKey(PAUSER_KEY), '0xde0b6b3a7640000');
  await bench.finalise();
  test = await createTestDatabase();
  database = await test.open({ poolSize: 4 });
  clock = new FakeClock(bench.seconds * 1000);
  alerts = [];
  wallets = 0x1000;
});
afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.close()));
  await test.drop();
  await bench.stop();
});

async function aNode(...fault: Fault[]): Promise<string> {
  const node = await startFaultyNode({ upstream: bench.chain.url, fault });
  nodes.push(node);
  return node.url;
}

interface Changes {
  readonly urls?: readonly string[];
  /** null: none. */
  readonly pauserKey?: string | null;
}

function aWatch({ urls = [bench.chain.url], pauserKey = PAUSER_KEY }: Changes = {}): ClaimWatch {
  const { chainId } = bench.place;
  const pool = new RpcPool({ urls, clock, sleep: () => Promise.resolve() });
  const policy = aCancelPolicy({ coins: new CoinStore(database) });
  return new ClaimWatch(
    {
      pool,
      reader: new ClaimReader(pool, 'finalized'),
      store: new ClaimWatchStore(database),
      pauser:
        pauserKey === null
          ? undefined
          : createVaultAccount({ pool, chainId, clock }, pauserKey, policy),
      clock,
      logger: createLogger({ app: 'test', level: 'silent' }),
      raise: (alert) => alerts.push(alert),
    },
    { place: bench.place, startBlock: 0n },
  );
}

async function kinds(watch = aWatch()): Promise<string[]> {
  const found = await watch.run();
  if (!found) throw new Error('another process is at it');
  return found.map(({ kind }) => kind);
}

/** What the service signs of itself. */
function aPayout(): VoucherPayout {
  return new VoucherPayout({
    pool: new RpcPool({ urls: [bench.chain.url], clock }),
    clock,
    place: bench.place,
    token: bench.chain.contracts.token,
    finality: 'finalized',
    voucherTtlSeconds: 600,
    vaults: new KnownVaults(database),
    signerKey: SIGNER_KEY,
    cancelling: aCancelPolicy(),
  });
}

async function authorised() {
  const payouts = aPayout();
  const redemptions = new Redemptions(new RedemptionStore(database), payouts);
  const payout = await redemptions.authorised(aWallet(wallets++));
  return { payout, payouts, redemptions };
}

/** By the stolen key of the signer. */
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
    const { calldata } = await payouts.authorise(payout);
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

  it('is found where it was made while no process ran', async () => {
    await kinds();
    await steal();
    for (let block = 0; block < 20; block++) await bench.mine();
    expect(await kinds()).toEqual(['without-row']);
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
      { code: 'vault-gas-price-refused', detail: expect.stringMatching(/9000000 gwei.* 500 /) },
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

  it('waits in the list for a person, who ends the alarm', async () => {
    await kinds();
    const id = await steal();
    await kinds();
    const registry = new Registry();
    const store = new ClaimWatchStore(database);
    const logger = createLogger({ app: 'test', level: 'silent' });
    gaugeClaimWatch(registry, { store, logger, chainId: bench.place.chainId });
    const figure = async () =>
      (await registry.getSingleMetricAsString('lowmark_claims_unauthorised')).split(' ').at(-1);
    expect(await figure()).toBe('1');
    const claims = new ClaimStore(database);
    expect(await claims.list(0, { all: false, limit: 9 })).toMatchObject([
      { id, kind: 'without-row', recipient: THIEF, amount: 100n },
    ]);
    const command = 'reconciliation acknowledge';
    const note = { atMs: clock.nowMs(), actor: 'operator:test', command, note: 'a theft' };
    expect(await claims.acknowledge({ id, ...note })).toBe(1);
    expect(await claims.list(0, { all: false, limit: 9 })).toEqual([]);
    expect((await store.state(bench.place.chainId)).alarms).toBe(0);
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
});

describe('the watch', () => {
  it('is kept by one process at a time, and a theft is told by one of them', async () => {
    await kinds();
    await steal();
    const other = await test.open();
    const held = await new ClaimWatchStore(other).exclusively(() => aWatch().run());
    expect(held).toEqual({ result: undefined });
    const both = await Promise.all([aWatch().run(), aWatch().run()]);
    expect(both.flatMap((found) => found ?? [])).toHaveLength(1);
    expect(alerts).toHaveLength(1);
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
