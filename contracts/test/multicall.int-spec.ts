/**
 * Tests balances of many wallets by Multicall3: the result equals single reads, with fewer requests, also where an
 * endpoint refuses calls.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  type ChainReader,
  type ChainReaderOptions,
  multicallOf,
  parseStakeViews,
} from '#libs/chain';
import { type JsonRpcFault } from '#libs/devchain';
import { type Address, type BlockRef } from '#libs/domain';
import { FakeClock } from '#libs/testing/clock';
import { aWallet } from '#libs/testing/database';
import { type Fault, type FaultyNode, NodeError, startFaultyNode } from '#libs/testing/fake-node';
import { ContractBench, type DeployedContract } from './contract-bench.js';

const STAKERS = Array.from({ length: 40 }, (_, index) => aWallet(0x1000 + index * 31));
const MANY = Array.from({ length: 1_240 }, (_, index) => aWallet(0x1000 + index));
/** As many as one call takes: where Multicall3 does not help, each wallet is a call of its own. */
const SOME = MANY.slice(0, 250);
const balance = (view: object) => parseStakeViews(view, 'balanceView', 'balance');
const balanceOf = (name: string) =>
  balance({
    function: `function ${name}(uint256 poolId, address user) returns (uint256)`,
    arguments: { poolId: 3 },
  });
const USERS = balance({
  function:
    'function usersData(address user, uint256) returns (uint128, uint256 deposited, uint256, uint256)',
  arguments: { 1: 3 },
  output: 'deposited',
});
const MULTICALL = multicallOf(1);

describe('stakeBalances', () => {
  let bench: ContractBench;
  let pools: DeployedContract;
  let node: FaultyNode;
  /** A block with stakes but without Multicall3; `present` is a later block with it. */
  let without: BlockRef;
  let present: BlockRef;
  let truth: bigint[];

  beforeAll(async () => {
    bench = await ContractBench.start(STAKERS);
    pools = await bench.deploy('Pools');
    const stakes = STAKERS.map((wallet, index) =>
      bench.call(pools, wallet, 'stake', 3n, BigInt(index + 1)),
    );
    without = await bench.block(await bench.mine(...stakes));
    // anvil_setCode changes the state of the newest block at once, so `without` needs a block after it.
    await bench.mine();
    await bench.chain.rpc.call('anvil_setCode', MULTICALL, bench.compiled('Aggregator').runtime);
    present = await bench.block(
      await bench.mine(bench.call(pools, STAKERS[0] as Address, 'stake', 3n, 100n)),
    );
    truth = (await plain().stakeBalances(MANY, present)) ?? [];
  });

  afterAll(() => bench.stop());

  beforeEach(async () => {
    node = await startFaultyNode({ upstream: bench.chain.url });
  });

  afterEach(() => node.close());

  function reader(options: ChainReaderOptions = {}, clock = new FakeClock(0)): ChainReader {
    const pool = bench.pool([node.url], undefined, clock);
    return bench.reader({ contracts: [pools.address], balanceView: USERS, ...options }, pool);
  }

  /** A reader that finds no Multicall3, since it looks at a wrong address. */
  const plain = (options: ChainReaderOptions = {}): ChainReader =>
    bench.reader({
      contracts: [pools.address],
      balanceView: USERS,
      multicall: aWallet(0xdead),
      ...options,
    });

  /** The calls to Multicall3 so far, as the number of bytes of their calldata. */
  const aggregates = (): number[] =>
    node.requests
      .flatMap(({ calls }) => calls)
      .flatMap(({ method, params }) => {
        const { to, data } = (params[0] ?? {}) as { readonly to?: string; readonly data?: string };
        return method === 'eth_call' && to === MULTICALL ? [(data?.length ?? 0) / 2 - 1] : [];
      });

  it('is the same as one by one, in three calls for 1,240 wallets', async () => {
    expect(truth.filter((balance) => balance > 0n)).toHaveLength(STAKERS.length);
    expect(truth[0]).toBe(101n);
    expect(await reader().stakeBalances(MANY, present)).toEqual(truth);
    expect(aggregates()).toHaveLength(3);
    expect(Math.max(...aggregates())).toBeLessThan(150_000);
    // One trial of the view, and three calls to Multicall3.
    expect(node.count('eth_call')).toBe(4);
    expect(node.count('eth_getCode')).toBe(1);
  });

  it('looks for Multicall3 once, and again for blocks in which it may not have been', async () => {
    const balances = reader();
    await balances.stakeBalances(MANY, present);
    await balances.stakeBalances(MANY, present);
    expect([aggregates().length, node.count('eth_getCode')]).toEqual([6, 1]);
    const [first, ...rest] = (await balances.stakeBalances(MANY, without)) ?? [];
    expect([first, rest]).toEqual([1n, truth.slice(1)]);
    expect(aggregates()).toHaveLength(6);
    await balances.stakeBalances(MANY, without);
    expect(node.count('eth_getCode')).toBe(2);
  });

  it('does not look for it for a few wallets', async () => {
    expect(await reader().stakeBalances(MANY.slice(0, 3), present)).toEqual(truth.slice(0, 3));
    expect([aggregates().length, node.count('eth_getCode')]).toEqual([0, 0]);
  });

  it.each<[string, () => ChainReaderOptions]>([
    ['an address without code', () => ({ multicall: aWallet(0xdead) })],
    ['another contract there', () => ({ multicall: bench.chain.contracts.token })],
  ])('reads in batches where there is no Multicall3: %s', async (_case, options) => {
    expect(await reader(options()).stakeBalances(SOME, present)).toEqual(truth.slice(0, 250));
  });

  const called = { kind: 'error', method: 'eth_call' } as const;
  it.each<[string, Fault]>([
    ['by number where a node takes no hash', { kind: 'no-block-hash-calls' }],
    ['nothing to it', toMultiCall({ kind: 'result', method: 'eth_call', result: '0x' })],
    ['a revert', toMultiCall({ ...called, code: 3, message: 'execution reverted' })],
    ['no gas', toMultiCall({ ...called, code: -32000, message: 'out of gas' })],
    ['too large', toMultiCall({ kind: 'status', status: 413 })],
  ])('is right whatever a node answers: %s', async (_case, fault) => {
    node.fault = fault;
    expect(await reader().stakeBalances(SOME, present)).toEqual(truth.slice(0, 250));
  });

  it('asks for less where an endpoint refuses much, keeps to it, and tries again later', async () => {
    const clock = new FakeClock(0);
    const balances = reader({}, clock);
    node.fault = {
      ...{ kind: 'error', method: 'eth_call', code: -32000, message: 'out of gas' },
      when: (calls) => calls.some(({ params }) => JSON.stringify(params).length > 100_000),
    };
    const sizes = async (): Promise<number[]> => {
      const before = aggregates().length;
      expect(await balances.stakeBalances(MANY, present)).toEqual(truth);
      return aggregates()
        .slice(before)
        .map((bytes) => Math.round(bytes / 256));
    };
    const small = [125, 125, 125, 125, 125, 125, 125, 125, 125, 115];
    expect(await sizes()).toEqual([500, 250, ...small]);
    expect(await sizes()).toEqual(small);
    clock.advance(600_000);
    node.fault = undefined;
    expect(await sizes()).toEqual([500, 500, 240]);
  });

  it('leaves an endpoint that takes too long to others, and asks it for less the next time', async () => {
    const late: Fault = {
      kind: 'error',
      method: 'eth_call',
      code: -32000,
      message: 'execution timeout',
    };
    const balances = reader();
    node.fault = toMultiCall(late);
    await expect(balances.stakeBalances(MANY, present)).rejects.toMatchObject({
      failures: [{ code: 'RPC_TIMEOUT' }],
    });
    node.fault = undefined;
    const before = aggregates().length;
    expect(await balances.stakeBalances(MANY, present)).toEqual(truth);
    expect(aggregates()).toHaveLength(before + 5);
  });

  it('is right where the calls together run out of gas', async () => {
    const { rpc } = bench.chain;
    const capped = await startFaultyNode({
      upstream: async ({ method, params }) => {
        const [call, ...rest] = params;
        if (method !== 'eth_call') return rpc.call(method, ...params);
        return rpc
          .call(method, { ...(call as object), gas: '0x1c9c380' }, ...rest)
          .catch((error: unknown) => {
            const { rpcCode, message } = error as JsonRpcFault;
            throw new NodeError(rpcCode, message);
          });
      },
    });
    try {
      const pool = bench.pool([capped.url]);
      const balanceView = balanceOf('costlyStakeOf');
      const costly = bench.reader({ contracts: [pools.address], balanceView }, pool);
      const some = MANY.slice(0, 600);
      expect(await costly.stakeBalances(some, present)).toEqual(truth.slice(0, 600));
      expect(capped.count('eth_call')).toBeLessThan(600);
      expect(capped.count('eth_call')).toBeGreaterThan(4);
    } finally {
      await capped.close();
    }
  });

  it('is nothing where the contract refuses one wallet, as one by one', async () => {
    const balanceView = balanceOf('stakeOf');
    const trial: Fault = {
      kind: 'result',
      method: 'eth_call',
      result: `0x${'0'.repeat(64)}`,
      times: 1,
    };
    node.fault = trial;
    const strict = reader({ balanceView });
    expect(await strict.stakeBalances(STAKERS, present)).toEqual(
      truth.filter((balance) => balance > 0n),
    );
    expect(aggregates()).toHaveLength(1);
    expect(await strict.stakeBalances(MANY, present)).toBeUndefined();
  });

  it('is 0 before the contract was there, and nothing where a node lost its state', async () => {
    const early = await bench.deploy('Pools');
    const options = { contracts: [early.address] };
    expect(await reader(options).stakeBalances(MANY, present)).toEqual(MANY.map(() => 0n));
    expect(aggregates()).toHaveLength(3);
    node.fault = {
      kind: 'pruned',
      when: (calls) => calls.some(({ params }) => typeof params[1] === 'object'),
    };
    expect(await reader().stakeBalances(MANY, present)).toBeUndefined();
  });

  it('adds several contracts up', async () => {
    const two = { contracts: [pools.address, pools.address] };
    expect(await reader(two).stakeBalances(MANY, present)).toEqual(truth.map((one) => one * 2n));
    expect(aggregates()).toHaveLength(5);
  });
});

/** Limits a fault to calls to Multicall3. */
function toMultiCall(fault: Fault): Fault {
  return {
    ...fault,
    when: (calls) =>
      calls.some(
        ({ method, params }) =>
          method === 'eth_call' && JSON.stringify(params[0]).includes(MULTICALL),
      ),
  };
}
