import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type DevChain, type DevChainOptions, launchDevChain } from '#libs/devchain';
import { type Address, type BlockRef } from '#libs/domain';
import { stake, startChain, type TestChain, withdraw } from '#libs/testing/chain';
import { FakeClock } from '#libs/testing/clock';
import { aWallet } from '#libs/testing/database';
import {
  type Fault,
  type FaultyNode,
  type NodeCall,
  startFaultyNode,
} from '#libs/testing/fake-node';
import { RpcPool } from '../rpc/rpc-pool.js';
import { ChainReader, type ChainReaderOptions } from './chain-reader.js';
import { parseStakeViews } from '../stake/stake-view.js';
import { hashesToItself } from '../blocks/header.js';

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

describe('price feeds', () => {
  const FEED = `0x${'fe'.repeat(20)}` as Address;
  const DECIMALS = '0x313ce567';
  const word = (value: bigint): string => BigInt.asUintN(256, value).toString(16).padStart(64, '0');

  interface Round {
    readonly roundId: bigint;
    readonly answer: bigint;
    readonly updatedAt: bigint;
  }
  /** The rounds of a feed, each by the height of the first block that has it. */
  type Rounds = Readonly<Record<number, Round>>;

  const OLD: Round = { roundId: 8n, answer: 15_000_000n, updatedAt: 1_700_000_000n };
  const NEW: Round = { roundId: 9n, answer: 15_100_000n, updatedAt: 1_700_000_060n };
  const RIGHT: Rounds = { 0: OLD, 100: NEW };

  const nodes: FaultyNode[] = [];
  afterEach(async () => {
    for (const node of nodes.splice(0)) await node.close();
  });

  /** A node at this height with these rounds. */
  async function aNode(head: number, rounds: Rounds = RIGHT): Promise<string> {
    const upstream = ({ method, params }: NodeCall): unknown => {
      if (method === 'eth_blockNumber') return `0x${head.toString(16)}`;
      const [{ data }, block] = params as [{ data: string }, string];
      if (data === DECIMALS) return `0x${word(8n)}`;
      const height = block === 'latest' ? head : Number(block);
      const from = Math.max(
        ...Object.keys(rounds)
          .map(Number)
          .filter((at) => at <= height),
      );
      const { roundId, answer, updatedAt } = rounds[from] ?? OLD;
      return `0x${[roundId, answer, updatedAt, updatedAt, roundId].map(word).join('')}`;
    };
    const node = await startFaultyNode({ upstream });
    nodes.push(node);
    return node.url;
  }

  function feeds(...urls: string[]): ChainReader {
    return new ChainReader(new RpcPool({ urls, clock: new FakeClock(0), patienceMs: 100 }));
  }

  const told = ({ roundId, answer, updatedAt }: Round) => ({
    roundId,
    answer,
    decimals: 8,
    updatedAtSeconds: Number(updatedAt),
    answeredInRound: roundId,
  });

  describe('a feed that two endpoints tell of', () => {
    it.each([NEW, { ...NEW, answer: -1n }])(
      'has the round that both tell: $answer',
      async (round) => {
        const two = feeds(await aNode(105, { 100: round }), await aNode(103, { 100: round }));
        expect(await two.latestRound(FEED)).toEqual(told(round));
      },
    );

    it('has the round of the lower height where one is behind', async () => {
      const ahead = await aNode(100);
      const behind = await aNode(99);
      expect(await feeds(ahead, behind).latestRound(FEED)).toEqual(told(OLD));
      expect(await feeds(behind, ahead).latestRound(FEED)).toEqual(told(OLD));
    });

    it.each<[string, Round]>([
      ['another answer', { ...NEW, answer: 15_100n }],
      ['another time', { ...NEW, updatedAt: 1_700_009_999n }],
      ['another round', { ...NEW, roundId: 10n, answer: 1n }],
    ])('has none where one of them tells %s, whichever it is', async (_, lie) => {
      const honest = await aNode(105);
      for (const head of [105, 90, 200]) {
        const liar = await aNode(head, { 0: lie });
        for (const urls of [
          [honest, liar],
          [liar, honest],
        ]) {
          await expect(feeds(...urls).latestRound(FEED)).rejects.toMatchObject({
            code: 'PRICE_FEED_DISAGREES',
            retryable: false,
            message: expect.stringMatching(/round \d+, answer \d+;.+round \d+, answer \d+\)/),
          });
        }
      }
    });

    it('has none where only one of two answers, and where there is one endpoint needs no other', async () => {
      const honest = await aNode(105);
      const dead = 'http://127.0.0.1:1';
      await expect(feeds(honest, dead).latestRound(FEED)).rejects.toMatchObject({
        retryable: true,
      });
      expect(await feeds(honest).latestRound(FEED)).toEqual(told(NEW));
      // A third endpoint can replace one that is down.
      expect(await feeds(dead, honest, await aNode(105)).latestRound(FEED)).toEqual(told(NEW));
    });
  });
});

describe('headers', () => {
  type Block = Record<string, unknown>;

  describe('the hash of a header', () => {
    const chains: DevChain[] = [];
    afterEach(async () => {
      await Promise.all(chains.splice(0).map((chain) => chain.stop()));
    });

    async function aBlock(hardfork?: DevChainOptions['hardfork']): Promise<Block> {
      const chain = await launchDevChain({
        genesisSeconds: 1_760_000_000,
        ...(hardfork && { hardfork }),
      });
      chains.push(chain);
      await chain.rpc.call('evm_mine');
      return chain.rpc.call<Block>('eth_getBlockByNumber', 'latest', false);
    }

    it.each(['london', 'shanghai', 'cancun', 'prague'] as const)(
      'is that of its fields since %s',
      async (hardfork) => {
        expect(hashesToItself(await aBlock(hardfork))).toBe(true);
      },
    );

    it('is that of no other fields', async () => {
      const block = await aBlock();
      const plusOne = (value: unknown) => `0x${(BigInt(value as string) + 1n).toString(16)}`;
      for (const field of ['number', 'timestamp', 'gasUsed', 'baseFeePerGas', 'blobGasUsed']) {
        expect(hashesToItself({ ...block, [field]: plusOne(block[field]) })).toBe(false);
      }
      const other = `0x${'ab'.repeat(32)}`;
      for (const field of ['hash', 'parentHash', 'stateRoot', 'withdrawalsRoot', 'requestsHash']) {
        expect(hashesToItself({ ...block, [field]: other })).toBe(false);
      }
    });

    it('is not that of a header with fields that are missing or odd', async () => {
      const block = await aBlock();
      const isBeside = /^(size|totalDifficulty|transactions|uncles|withdrawals)$/;
      // These fields are zero, which is encoded like a field that the chain does not use.
      const isZero = /^(baseFeePerGas|blobGasUsed|excessBlobGas)$/;
      const unneeded = Object.keys(block).filter((field) =>
        hashesToItself({ ...block, [field]: undefined }),
      );
      expect(unneeded.filter((field) => !isBeside.test(field) && !isZero.test(field))).toEqual([]);
      for (const odd of [null, [], 'block', { ...block, number: 7 }, { ...block, nonce: '0x1' }]) {
        expect(hashesToItself(odd)).toBe(false);
      }
    });
  });

  const ZERO_HASH = `0x${'0'.repeat(64)}`;

  /** The first block of Ethereum: its fields and its hash are in the appendix of the Yellow Paper and in every client. */
  const GENESIS = {
    number: '0x0',
    hash: '0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3',
    parentHash: ZERO_HASH,
    sha3Uncles: '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347',
    miner: `0x${'0'.repeat(40)}`,
    stateRoot: '0xd7f8974fb5ac78d9ac099b9ad5018bedc2ce0a72dad1827a1709da30580f0544',
    transactionsRoot: '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421',
    receiptsRoot: '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421',
    logsBloom: `0x${'0'.repeat(512)}`,
    difficulty: '0x400000000',
    gasLimit: '0x1388',
    gasUsed: '0x0',
    timestamp: '0x0',
    extraData: '0x11bbe8db4e347b4e8c937c1c8370e4b5ed33adb3db69cbdb7a38e1e50b1b82fa',
    mixHash: ZERO_HASH,
    nonce: '0x0000000000000042',
  };

  describe('the hash of the first header of Ethereum', () => {
    it('is that of its fields, whatever a node tells beside them', () => {
      expect(hashesToItself(GENESIS)).toBe(true);
      const more = { size: '0x21c', totalDifficulty: '0x400000000', l1BlockNumber: '0x1' };
      expect(hashesToItself({ ...GENESIS, ...more, requestsHash: null })).toBe(true);
    });

    it('is not that of a header with one more field', () => {
      expect(hashesToItself({ ...GENESIS, baseFeePerGas: '0x7' })).toBe(false);
      expect(hashesToItself({ ...GENESIS, slotNumber: '0x7' })).toBe(false);
    });
  });
});
