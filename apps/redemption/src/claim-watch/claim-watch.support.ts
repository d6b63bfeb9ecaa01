/** A vault, a ledger and the claim watch. Named as a test file, without tests of its own. */
import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from '@jest/globals';
import { addressOfKey, RpcPool, type Voucher, vaultIdOf } from '#libs/chain';
import { ClaimWatchStore, CoinStore, type Database, KnownVaults, RedemptionStore } from '#libs/db';
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
import { alertsTo, aVoucherPayout, someSettings } from '../testing/cancel-policy.support.js';
import { backTo } from '../testing/stage.support.js';
import { ClaimWatch } from './claim-watch.js';

const { SIGNER_KEY } = VaultBench;
export const PAUSER_KEY = '44'.repeat(32);
export const PAUSER = addressOfKey(PAUSER_KEY);
export const THIEF = aWallet(0x7e1f);

export let bench: VaultBench;
export let test: TestDatabase;
export let database: Database;
export let clock: FakeClock;
export let alerts: Alert[];
let wallets: number;
const nodes: FaultyNode[] = [];

/** Makes a vault for the file, and for every test a ledger, a clock, and the chain as it was in the beginning. */
export function eachTest(): void {
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
}

export async function aNode(...fault: Fault[]): Promise<string> {
  const node = await startFaultyNode({ upstream: bench.chain.url, fault });
  nodes.push(node);
  return node.url;
}

interface Changes {
  readonly urls?: readonly string[];
  /** null: no pauser. */
  readonly pauserKey?: string | null;
}

export function aWatch({
  urls = [bench.chain.url],
  pauserKey = PAUSER_KEY,
}: Changes = {}): ClaimWatch {
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

export async function kinds(watch = aWatch()): Promise<string[]> {
  const found = await watch.check();
  if (!found) throw new Error('another process is at it');
  return found.map(({ kind }) => kind);
}

/** Makes the payouts that the service itself signs. */
export function aPayout(): VoucherPayout {
  return aVoucherPayout(bench, clock, { vaults: new KnownVaults(database) });
}

export async function authorised() {
  const payouts = aPayout();
  const redemptions = new Redemptions(new RedemptionStore(database), payouts);
  const payout = await redemptions.authorised(aWallet(wallets++));
  return { payout, payouts, redemptions };
}

/** Claims a voucher that was signed with the stolen key of the signer. */
export async function steal(changes: Partial<Voucher> = {}): Promise<UuidV7> {
  const id = mintUuidV7(clock.nowMs(), randomBytes(10));
  const voucher = bench.voucher({ vaultId: vaultIdOf(id), recipient: THIEF, ...changes });
  expect(await bench.refusal(bench.claim(voucher))).toBeUndefined();
  return id;
}

export async function nextBlock(): Promise<bigint | undefined> {
  const [watched] = await new ClaimWatchStore(database).vaults(bench.place, 0n);
  return watched?.nextBlock;
}

export const isPaused = () => bench.view('paused');
