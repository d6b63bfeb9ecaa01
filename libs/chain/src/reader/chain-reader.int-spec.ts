import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type BlockRef } from '#libs/domain';
import { stake, startChain, type TestChain, withdraw } from '#libs/testing/chain';
import { FakeClock } from '#libs/testing/clock';
import { aWallet } from '#libs/testing/database';
import { type Fault, type FaultyNode, startFaultyNode } from '#libs/testing/fake-node';
import { RpcPool } from '../rpc/rpc-pool.js';
import { ChainReader, type ChainReaderOptions } from './chain-reader.js';
import { parseStakeViews } from '../stake/stake-view.js';

const START = 1_700_000_000;
const [ALICE, BOB] = [aWallet(1), aWallet(2)];

describe('ChainReader', () => {
  let chain: TestChain;
  let nodes: FaultyNode[];
  let before: BlockRef;
  let after: BlockRef;

  beforeAll(async () => {
    chain = await startChain({ deployedSeconds: START, finalityDepth: 4 });
    await chain.player.fund([ALICE, BOB], 1000n, START);
    const one = await chain.player.block(
      START + 10,
      [stake(ALICE, 500n), stake(ALICE, 20n)],
      stake(BOB, 7n),
    );
    const two = await chain.player.block(START + 20, withdraw(ALICE, 120n));
    await chain.player.mine(START + 30, START + 40);
    const reader = new ChainReader(new RpcPool({ urls: [chain.url], clock: new FakeClock(0) }));
    [before, after] = (await reader.headers([one, two])) as BlockRef[] as [BlockRef, BlockRef];
  });

  afterAll(async () => {
    await chain.stop();
  });

  beforeEach(async () => {
    nodes = await Promise.all([1, 2, 3].map(() => startFaultyNode({ upstream: chain.url })));
  });

  afterEach(async () => {
    await Promise.all(nodes.map((node) => node.close()));
  });

  function aReader(
    faults: readonly (Fault | undefined)[],
    options: ChainReaderOptions = {},
    clock = new FakeClock(0),
  ): ChainReader {
    const used = nodes.slice(0, faults.length);
    for (const [index, node] of used.entries()) node.fault = faults[index];
    const pool = new RpcPool({
      urls: used.map((node) => node.url),
      clock,
      sleep: () => Promise.resolve(),
    });
    return new ChainReader(pool, { contracts: [chain.contracts.staking], ...options });
  }

  it.each([
    ['finalized', 4n],
    ['depth:2', 2n],
    ['depth:0', 0n],
    ['depth:1000000', undefined],
  ])('reads the heads with finality %s', async (finality, depth) => {
    const { latest, finalised } = await aReader([undefined], { finality }).heads();
    expect(latest).toMatchObject({ number: after.number + 2n, timestampSeconds: START + 40 });
    expect(finalised.number).toBe(depth === undefined ? 0n : latest.number - depth);
  });

  it('does not take a missing tag for block 0', async () => {
    const reader = aReader([{ kind: 'result', method: 'eth_getBlockByNumber', result: null }]);
    await expect(reader.heads()).rejects.toThrow(/has no latest block/);
  });

  it('reads headers, and undefined for blocks that are not there', async () => {
    const headers = await aReader([undefined]).headers([after.number, 10_000n, before.number]);
    expect(headers.map((header) => header?.hash)).toEqual([after.hash, undefined, before.hash]);
    expect(headers[0]?.parentHash).toBe(before.hash);
    expect(await aReader([undefined]).headers([])).toEqual([]);
  });

  it('takes a header as two providers have it, and none ahead of the clock', async () => {
    const { number } = before;
    const later: Fault = { kind: 'false-times', seconds: 3600 };
    const one = (...faults: (Fault | undefined)[]) =>
      aReader(faults).agreedHeader(number, before.timestampSeconds + 7200);
    expect(await one(later, undefined, undefined)).toMatchObject(before);
    expect(await one({ kind: 'false-times', seconds: 9000 }, undefined)).toMatchObject(before);
    expect(await one({ kind: 'lagging', blocks: 1000n }, undefined)).toMatchObject(before);
    await expect(one(later, undefined)).rejects.toMatchObject({ code: 'PROVIDERS_DISAGREE' });
    expect(await aReader([undefined]).agreedHeader(10_000n, 1e12)).toBeUndefined();
  });

  it('tells contracts from wallets, and reads a token', async () => {
    const reader = aReader([undefined]);
    const { token, staking } = chain.contracts;
    expect(await reader.hasCode(staking)).toBe(true);
    expect(await reader.hasCode(ALICE)).toBe(false);
    const facts = await reader.token(token);
    expect(facts).toEqual({ symbol: expect.stringMatching(/^\w+$/), decimals: 18 });
    expect(await reader.token(token, { symbol: 'X' })).toEqual({ symbol: 'X', decimals: 18 });
    expect(await reader.token(ALICE, { symbol: 'X', decimals: 6 })).toEqual({
      symbol: 'X',
      decimals: 6,
    });
    await expect(reader.token(staking)).rejects.toThrow(/does not tell its symbol/);
    await expect(reader.token(staking, { symbol: 'X' })).rejects.toThrow(
      /does not tell its decimals/,
    );
    await expect(reader.token(ALICE)).rejects.toMatchObject({
      code: 'TOKEN_UNREADABLE',
      retryable: false,
    });
  });

  it('takes an ERC-721 token, which has no decimals(), for one without decimals', async () => {
    const collection = aWallet(0x72);
    // Answers supportsInterface with 1 and reverts otherwise.
    const code = '0x60003560e01c6301ffc9a7146012575f5ffd5b60015f5260205ff3';
    await chain.rpc.call('anvil_setCode', collection, code);
    const known = { symbol: 'X' };
    expect(await aReader([undefined]).token(collection, known)).toEqual({ ...known, decimals: 0 });
  });

  describe('the contract’s own figures', () => {
    it.each<[string, Fault | undefined]>([
      ['by block hash', undefined],
      ['by number where a node takes no hash', { kind: 'no-block-hash-calls' }],
    ])('are of exactly the block asked for: %s', async (_case, fault) => {
      const reader = aReader([fault]);
      expect(await reader.stakeTotal(before)).toBe(527n);
      expect(await reader.stakeTotal(after)).toBe(407n);
      expect(await reader.stakeBalances([ALICE, BOB, aWallet(3)], before)).toEqual([520n, 7n, 0n]);
      expect(await reader.stakeBalances([ALICE], after)).toEqual([400n]);
      expect([reader.hasTotal, reader.hasBalances]).toEqual([true, true]);
      const other = { ...after, hash: `0x${'77'.repeat(32)}` as BlockRef['hash'] };
      await expect(reader.stakeTotal(other)).rejects.toMatchObject({
        failures: [{ code: 'RPC_NODE_BEHIND' }],
      });
    });

    it('add several contracts up, in batches of a hundred calls', async () => {
      const { staking } = chain.contracts;
      const reader = aReader([undefined], { contracts: [staking, staking] });
      expect(await reader.stakeTotal(after)).toBe(814n);
      const wallets = Array.from({ length: 120 }, (_, index) => aWallet(index + 1));
      const balances = await reader.stakeBalances(wallets, after);
      expect(balances?.slice(0, 3)).toEqual([800n, 14n, 0n]);
      expect(balances).toHaveLength(120);
      expect(Math.max(...(nodes[0]?.requests ?? []).map(({ calls }) => calls.length))).toBe(100);
    });

    it('are nothing before the contract was there', async () => {
      const reader = aReader([undefined]);
      const [genesis] = await reader.headers([0n]);
      expect(await reader.stakeTotal(genesis as BlockRef)).toBe(0n);
    });

    it('are undefined where the contract has none, or the settings say so', async () => {
      const without = aReader([undefined], { contracts: [chain.contracts.staking, ALICE] });
      expect(without.hasTotal).toBe(true);
      expect(await without.stakeTotal(after)).toBeUndefined();
      expect(without.hasTotal).toBe(false);
      const none = aReader([undefined], { totalView: [], balanceView: [] });
      expect([none.hasTotal, none.hasBalances]).toEqual([false, false]);
      expect(await none.stakeTotal(after)).toBeUndefined();
      expect(await none.stakeBalances([ALICE], after)).toBeUndefined();
    });

    it('are looked for again where a node said that there are none', async () => {
      const clock = new FakeClock(0);
      const behind: Fault = { kind: 'result', method: 'eth_call', result: '0x' };
      const reader = aReader([behind], {}, clock);
      expect(await reader.stakeTotal(after)).toBeUndefined();
      expect(await reader.stakeBalances([ALICE], after)).toBeUndefined();
      expect([reader.hasTotal, reader.hasBalances]).toEqual([false, false]);
      const node = nodes[0] as FaultyNode;
      node.fault = undefined;
      const asked = node.requests.length;
      clock.advance(59_000);
      // A missing view costs no request for each range of a backfill.
      expect(await reader.stakeTotal(before)).toBeUndefined();
      expect(node.requests).toHaveLength(asked);
      clock.advance(1_000);
      expect(await reader.stakeTotal(after)).toBe(407n);
      expect(await reader.stakeBalances([ALICE], after)).toEqual([400n]);
      expect([reader.hasTotal, reader.hasBalances]).toEqual([true, true]);
      node.fault = behind;
      expect(await reader.stakeTotal(after)).toBeUndefined();
      clock.advance(120_000);
      expect(reader.hasTotal).toBe(true);
    });

    it.each<[string, Fault | undefined]>([
      ['by block hash', undefined],
      ['by number', { kind: 'no-block-hash-calls' }],
    ])(
      'are not 0 where a node answers nothing for a contract that is there: %s',
      async (_case, fault) => {
        const reader = aReader([fault, undefined]);
        const [bad, good] = nodes as [FaultyNode, FaultyNode];
        expect(await reader.stakeTotal(after)).toBe(407n);
        bad.fault = { kind: 'result', method: 'eth_call', result: '0x' };
        const said: string[] = [];
        const saidBy = (endpoint: string) => said.push(endpoint);
        expect(await reader.stakeTotal(after, { saidBy })).toBe(407n);
        expect(await reader.stakeBalances([ALICE], after, { saidBy })).toEqual([400n]);
        expect(said).toEqual([reader.endpoints[1], reader.endpoints[1]]);
        good.fault = bad.fault;
        expect(await reader.stakeTotal(after)).toBeUndefined();
      },
    );

    it('are not those of a node that is to be avoided', async () => {
      const reader = aReader([undefined, undefined]);
      const said: string[] = [];
      const saidBy = (endpoint: string) => said.push(endpoint);
      expect(await reader.stakeTotal(after, { saidBy })).toBe(407n);
      expect(await reader.stakeTotal(after, { avoid: [...said], saidBy })).toBe(407n);
      expect(said.toSorted()).toEqual(reader.endpoints.toSorted());
      await expect(reader.stakeTotal(after, { avoid: reader.endpoints })).rejects.toMatchObject({
        code: 'RPC_ALL_ENDPOINTS_FAILED',
      });
    });

    it('may have another name', async () => {
      const staked = { function: 'function totalStaked() view returns (uint256)' };
      const totalView = parseStakeViews(staked, 'totalView', 'total');
      expect(await aReader([undefined], { totalView }).stakeTotal(after)).toBe(407n);
    });
  });

  it('refuses to read a price where there is no feed', async () => {
    for (const feed of [chain.contracts.token, ALICE]) {
      await expect(aReader([undefined]).latestRound(feed)).rejects.toMatchObject({
        code: 'NOT_A_PRICE_FEED',
      });
    }
  });
});
