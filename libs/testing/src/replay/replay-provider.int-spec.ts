import { afterEach, describe, expect, it } from '@jest/globals';
import { decodeFunctionResult, encodeFunctionData, parseAbi, type Hex } from 'viem';
import { MULTICALL3, MULTICALL_ABI, replayWallet } from './replay-contracts.js';
import { ReplayBench } from './testing/replay-bench.js';

const VIEWS = parseAbi([
  'function totalStaked() view returns (uint256)',
  'function balanceOf(address) view returns (uint256)',
  'function userInfo(uint256, address) view returns (uint256, uint256)',
  'function symbol() view returns (string)',
]);

describe('a replay provider', () => {
  const bench = new ReplayBench();

  afterEach(() => bench.stop());

  it('answers batches in one list, and counts what it was asked', async () => {
    await bench.start();
    const head = { number: '0x12c' };
    expect(
      await bench.rpc.batch([
        { method: 'eth_blockNumber' },
        { method: 'eth_getBlockByNumber', params: ['latest', false] },
        { method: 'eth_getBlockByNumber', params: ['finalized', false] },
        { method: 'eth_getBlockByNumber', params: ['0x12d', false] },
      ]),
    ).toMatchObject(['0x12c', head, { number: '0xec' }, null]);
    await expect(bench.rpc.call('eth_nonsense')).rejects.toThrow(/eth_nonsense does not exist/);
    await bench.ourLogs(0, 10);
    await bench.ourLogs(0, 10);
    const response = await fetch(`${bench.provider.url}/-/stats`);
    expect(await response.json()).toEqual({ ...bench.provider.stats() });
    expect(bench.provider.stats()).toMatchObject({
      requests: 4,
      headPolls: 0,
      repeatedCalls: 1,
      computeUnits: 10 + 3 * 16 + 20 + 2 * 75,
      byMethod: {
        eth_getBlockByNumber: { calls: 3, refused: 0, failed: 0 },
        eth_nonsense: { calls: 1, refused: 0, failed: 1 },
      },
      inFlight: 0,
      largestBatch: 4,
    });
  });

  it('answers its views at past blocks by number and hash, and through Multicall3', async () => {
    await bench.start();
    const { chain } = bench.provider;
    const { staking, token } = chain.contracts;
    const total = encodeFunctionData({ abi: VIEWS, functionName: 'totalStaked' });
    for (const block of [1, 150, 300]) {
      const expected = chain.history.totalAt(block);
      const ask = { to: staking, data: total };
      expect(BigInt(await bench.rpc.call<string>('eth_call', ask, `0x${block.toString(16)}`))).toBe(
        expected,
      );
      expect(
        BigInt(await bench.rpc.call<string>('eth_call', ask, { blockHash: chain.hashOf(block) })),
      ).toBe(expected);
    }
    expect(await bench.rpc.call('eth_call', { to: staking, data: total }, '0x0')).toBe('0x');
    expect(await bench.rpc.call('eth_getCode', staking, '0x0')).toBe('0x');
    await expect(bench.rpc.call('eth_call', { to: token, data: total }, 'latest')).rejects.toThrow(
      /reverted/,
    );
    const wallets = [0, 1, 2].map((wallet) => replayWallet(chain.shape, wallet) as Hex);
    const calls = wallets.map((wallet) => ({
      target: staking as Hex,
      allowFailure: true,
      callData: encodeFunctionData({ abi: VIEWS, functionName: 'balanceOf', args: [wallet] }),
    }));
    calls.push({ target: token as Hex, allowFailure: true, callData: total });
    const data = encodeFunctionData({
      abi: MULTICALL_ABI,
      functionName: 'aggregate3',
      args: [calls],
    });
    const answer = await bench.rpc.call<Hex>('eth_call', { to: MULTICALL3, data }, 'latest');
    const results = decodeFunctionResult({
      abi: MULTICALL_ABI,
      functionName: 'aggregate3',
      data: answer,
    });
    expect(results.map(({ success }) => success)).toEqual([true, true, true, false]);
    expect(results.slice(0, 3).map(({ returnData }) => BigInt(returnData))).toEqual(
      wallets.map((_, wallet) => chain.history.balanceAt(wallet, 0, chain.head)),
    );
  });

  it('has userInfo of its pools where it is like a MasterChef', async () => {
    await bench.start({}, { contract: 'masterchef', pools: 3 });
    const { chain } = bench.provider;
    for (const pool of [0, 1, 2]) {
      const data = encodeFunctionData({
        abi: VIEWS,
        functionName: 'userInfo',
        args: [BigInt(pool), replayWallet(chain.shape, 1) as Hex],
      });
      const answer = await bench.rpc.call<Hex>(
        'eth_call',
        { to: chain.contracts.staking, data },
        'latest',
      );
      const [amount] = decodeFunctionResult({ abi: VIEWS, functionName: 'userInfo', data: answer });
      expect(amount).toBe(chain.history.balanceAt(1, pool, chain.head));
    }
    const total = encodeFunctionData({ abi: VIEWS, functionName: 'totalStaked' });
    await expect(
      bench.rpc.call('eth_call', { to: chain.contracts.staking, data: total }, 'latest'),
    ).rejects.toThrow(/reverted/);
  });

  it('without the state of old blocks says so in the words of geth', async () => {
    await bench.start({ pruned: true, noHashCalls: true });
    const ask = { to: bench.provider.chain.contracts.staking, data: '0x817b1cd2' };
    expect(await bench.rpc.call('eth_call', ask, '0xad')).toMatch(/^0x[0-9a-f]{64}$/);
    await expect(bench.rpc.call('eth_call', ask, '0xac')).rejects.toThrow(/missing trie node/);
    const hash = bench.provider.chain.hashOf(300);
    await expect(bench.rpc.call('eth_call', ask, { blockHash: hash })).rejects.toThrow(
      /cannot unmarshal/,
    );
  });

  it('grows, and takes its behaviour, over its own path', async () => {
    await bench.start();
    const control = (path: string, method: string, body?: string): Promise<Response> =>
      fetch(`${bench.provider.url}/-/${path}`, { method, ...(body !== undefined && { body }) });
    await control('extend?blocks=3', 'POST');
    expect(await bench.rpc.call('eth_blockNumber')).toBe('0x12f');
    await control('behaviour', 'PUT', JSON.stringify({ rangeCap: { blocks: 1, style: 'plain' } }));
    await expect(bench.ourLogs(0, 1)).rejects.toThrow(/too wide/);
    await control('reset', 'POST');
    expect(bench.provider.stats()).toMatchObject({ requests: 0, byMethod: {} });
  });
});
