/**
 * Cancellations on a real chain with a real store of daily coin, through nodes that give false gas figures or no
 * answer.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { addressOfKey, RpcPool } from '#libs/chain';
import { CoinStore, type Database } from '#libs/db';
import { type Address, mintUuidV7, parseDecimal } from '#libs/domain';
import { FakeClock } from '#libs/testing/clock';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { type Fault, type FaultyNode, startFaultyNode } from '#libs/testing/fake-node';
import { VaultBench } from '#libs/testing/vault';
import { type Alert } from '../observe/alerts.js';
import {
  aCancelPolicy,
  cancelled,
  type CancelPolicy,
  FIFTY_USD,
  vouchersOn,
} from '../testing/cancel-policy.support.js';
import { type CommittedPayout } from './payout.js';
import { type VoucherPayout } from './voucher-payout.js';

const { SIGNER_KEY, OTHER_KEY, RECIPIENT } = VaultBench;
const GWEI = 10n ** 9n;

let bench: VaultBench;
let clock: FakeClock;
let canceller: Address;
let test: TestDatabase;
let database: Database;
let alerts: Alert[];
const nodes: FaultyNode[] = [];

beforeAll(async () => {
  canceller = addressOfKey(OTHER_KEY);
  bench = await VaultBench.start({ canceller });
  await bench.finalise();
  clock = new FakeClock(bench.seconds * 1000);
  test = await createTestDatabase();
  database = await test.open({ poolSize: 4 });
});
beforeEach(() => {
  alerts = [];
});
afterEach(() => Promise.all(nodes.splice(0).map((node) => node.close())));
afterAll(async () => {
  await bench.stop();
  await test.drop();
});

interface Changes {
  readonly policy?: Partial<CancelPolicy>;
  readonly cancellerKey?: string;
  readonly url?: string;
}

function vouchers({ policy, cancellerKey = OTHER_KEY, url = bench.chain.url }: Changes = {}) {
  clock.set(Math.max(clock.nowMs(), bench.seconds * 1000));
  return vouchersOn(bench, clock, {
    pool: new RpcPool({ urls: [url], clock, sleep: () => Promise.resolve() }),
    cancellerKey,
    cancelling: aCancelPolicy({ raise: (alert) => alerts.push(alert), ...policy }),
  });
}

function aPayout(changes: Changes = {}): VoucherPayout {
  return vouchers(changes).payouts;
}

async function committed(payouts: VoucherPayout): Promise<CommittedPayout> {
  const redemptionId = mintUuidV7(clock.nowMs(), randomBytes(10));
  const ask = { id: redemptionId, wallet: RECIPIENT, tokenAmount: 100n };
  return { redemptionId, ...(await payouts.plan(ask)) };
}

async function aNode(...fault: Fault[]): Promise<FaultyNode> {
  const node = await startFaultyNode({ upstream: bench.chain.url, fault });
  nodes.push(node);
  return node;
}

/** A node that answers every question for the cost of gas with these figures. */
function quoting(price: bigint, gas: bigint): Promise<FaultyNode> {
  return aNode(
    { kind: 'result', method: 'eth_gasPrice', result: `0x${price.toString(16)}` },
    { kind: 'result', method: 'eth_estimateGas', result: `0x${gas.toString(16)}` },
  );
}

/** Number of transactions that are not mined yet. */
async function waiting(): Promise<number> {
  const count = async (at: string) =>
    Number(await bench.chain.rpc.call<string>('eth_getTransactionCount', canceller, at));
  return (await count('pending')) - (await count('latest'));
}

async function outcomes(payouts: VoucherPayout, all: readonly CommittedPayout[]) {
  await bench.mine();
  await bench.finalise();
  return (await payouts.observe(all)).map(({ outcome }) => outcome);
}

describe('a cancellation', () => {
  it('is sent once in a minute however often it is asked for, and harmlessly after that', async () => {
    const payouts = aPayout();
    const payout = await committed(payouts);
    for (let time = 0; time < 3; time++) payouts.requestCancel(payout, FIFTY_USD);
    await cancelled(payouts, payout);
    expect(await waiting()).toBe(1);
    await bench.mine();
    clock.advance(60_000);
    await cancelled(payouts, payout);
    expect(await waiting()).toBe(0);
    expect(alerts).toEqual([]);
  });

  it('is not sent without the role, and the log says so', async () => {
    const lines: object[] = [];
    const logger = {
      ...aCancelPolicy().logger,
      warn: (line: object) => void lines.push(line),
    } as CancelPolicy['logger'];
    const { payouts, conditions } = vouchers({ cancellerKey: SIGNER_KEY, policy: { logger } });
    await cancelled(payouts, await committed(payouts));
    const code = 'VAULT_CANCELLER_LACKS_ROLE';
    expect(lines).toEqual([expect.objectContaining({ err: expect.objectContaining({ code }) })]);
    expect(await conditions.report()).toEqual({
      faults: [],
      concerns: [expect.stringMatching(/^VAULT_CANCELLER_KEY: /)],
    });
  });

  it('of what is worth too little is left to the deadline', async () => {
    const payouts = aPayout({ policy: { minUsd: parseDecimal('10') } });
    const payout = await committed(payouts);
    for (const usd of ['0.5', '9.99', '9.9999999999999999999']) {
      payouts.requestCancel(payout, parseDecimal(usd));
    }
    await payouts.cancelsSent();
    expect(await waiting()).toBe(0);
    payouts.requestCancel(payout, parseDecimal('10.00'));
    await payouts.cancelsSent();
    expect(await waiting()).toBe(1);
    await bench.mine();
  });
});

describe('many cancellations', () => {
  it('are all sent, one after the other', async () => {
    const payouts = aPayout();
    const all = [];
    for (let index = 0; index < 5; index++) all.push(await committed(payouts));
    await Promise.all(all.map((payout) => cancelled(payouts, payout)));
    expect(await outcomes(payouts, all)).toEqual(Array(5).fill('dead'));
  });

  it('hold up the worker that asks for them not at all: its lease is over long before they are sent', async () => {
    const silent = await aNode({
      kind: 'never-answers',
      when: (calls) => calls.some(({ method }) => method === 'eth_gasPrice'),
    });
    const payouts = aPayout({ url: silent.url });
    const all = [];
    for (let index = 0; index < 50; index++) all.push(await committed(payouts));
    for (const payout of all) payouts.requestCancel(payout, FIFTY_USD);
    // The worker still polls the chain while the first of fifty cancellations waits for a node.
    expect(await payouts.observe(all)).toHaveLength(50);
    silent.fault = undefined;
    await silent.close();
    await payouts.close();
    expect(await waiting()).toBe(0);
  });
});

it('a false price of gas has nothing signed, and an alert names both figures', async () => {
  const node = await quoting(9_000_000n * GWEI, 80_000n);
  const coins = new CoinStore(database);
  const payouts = aPayout({ url: node.url, policy: { coins } });
  const payout = await committed(payouts);
  for (let time = 0; time < 3; time++) await cancelled(payouts, payout);
  expect(node.count('eth_sendRawTransaction')).toBe(0);
  const { redemptionId } = payout;
  const text = / at 13500000 gwei.* 1350 .* above the 0\.5 that/;
  const detail = expect.stringMatching(text);
  expect(alerts).toEqual([
    { severity: 'warning', code: 'vault-gas-refused', redemptionId, detail },
  ]);
  expect(await coins.spent(bench.chain.chainId, canceller, clock.nowMs())).toBe(0n);
});

describe('the coin of a day', () => {
  it('is not passed, by replicas and after restarts, and an alert names the figures', async () => {
    const node = await quoting(100n * GWEI, 80_000n);
    // 150 gwei times 100,000 gas is 0.015 of the coin for each, so three fit into a day.
    const replica = () =>
      aPayout({
        url: node.url,
        policy: { coins: new CoinStore(database), dailyWei: 5n * 10n ** 16n },
      });
    const all = [];
    for (let index = 0; index < 4; index++) {
      const payouts = replica();
      const payout = await committed(payouts);
      await cancelled(payouts, payout);
      await payouts.close();
      all.push(payout);
    }
    expect(await waiting()).toBe(3);
    expect(alerts).toMatchObject([
      {
        code: 'vault-gas-refused',
        detail: expect.stringMatching(
          /cost 0\.015 .* 0\.045 of the day's 0\.05 \(GAS_DAILY_COIN\)/,
        ),
      },
    ]);
    const payouts = replica();
    expect(await outcomes(payouts, all)).toEqual(['dead', 'dead', 'dead', 'live']);
    clock.advance(86_400_000);
    const [, , , last] = all;
    if (last) await cancelled(payouts, last);
    expect(await waiting()).toBe(1);
  });
});
