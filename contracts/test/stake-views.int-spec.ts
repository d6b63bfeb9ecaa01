/** Tests views in the notation of docs/operating/contracts.md against a contract with pools and structs. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type ChainReader,
  type ChainReaderOptions,
  parseStakeDescription,
  parseStakeViews,
  resolveStakeViews,
} from '#libs/chain';
import { type Address, type BlockRef } from '#libs/domain';
import { aWallet } from '#libs/testing/database';
import { type FaultyNode, startFaultyNode } from '#libs/testing/fake-node';
import { ContractBench, type DeployedContract } from './contract-bench.js';

const [ALICE, BOB, CAROL] = [aWallet(0xa11ce), aWallet(0xb0b), aWallet(0xca401)];
const WALLETS = [ALICE, BOB, CAROL];
const USERS = (poolId: number): object => ({
  function:
    'function usersData(address user, uint256 poolId) view returns (uint128, uint256 deposited, uint256, uint256)',
  arguments: { poolId },
  output: 'deposited',
});
const POOLS = (pool: number, more: object = {}): object => ({
  function: 'function poolsData(uint256) view returns (uint128, uint256, uint256 totalDeposited)',
  arguments: { 0: pool },
  output: 'totalDeposited',
  ...more,
});
const total = (json: unknown) => ({ totalView: parseStakeViews(json, 'totalView', 'total') });
const balance = (json: unknown) => ({
  balanceView: parseStakeViews(json, 'balanceView', 'balance'),
});

describe('views of a contract with pools', () => {
  let bench: ContractBench;
  let pools: DeployedContract;
  let other: DeployedContract;
  let before: BlockRef;
  let after: BlockRef;

  beforeAll(async () => {
    bench = await ContractBench.start(WALLETS);
    pools = await bench.deploy('Pools');
    other = await bench.deploy('Pools');
    const call = (from: Address, ...rest: readonly [string, ...unknown[]]) =>
      bench.call(pools, from, ...rest);
    before = await bench.block(
      await bench.mine(
        call(ALICE, 'stake', 3n, 500n),
        call(BOB, 'stake', 3n, 20n),
        call(ALICE, 'stake', 4n, 6n),
      ),
    );
    after = await bench.block(
      await bench.mine(call(ALICE, 'withdraw', 3n, 100n), bench.call(other, BOB, 'stake', 3n, 1n)),
    );
  });

  afterAll(() => bench.stop());

  const reader = (options: ChainReaderOptions): ChainReader =>
    bench.reader({ contracts: [pools.address], ...options });

  it.each<[string, unknown, bigint[], bigint[]]>([
    ['one of several outputs', USERS(3), [500n, 20n, 0n], [400n, 20n, 0n]],
    [
      'fewer outputs than there are',
      {
        function: 'function usersData(address, uint256) returns (uint128, uint256)',
        arguments: { 1: 3 },
        output: 1,
      },
      [500n, 20n, 0n],
      [400n, 20n, 0n],
    ],
    ['two pools that add up', [USERS(3), USERS(4)], [506n, 20n, 0n], [406n, 20n, 0n]],
    [
      'inside a struct with a list',
      {
        function:
          'function positionOf(uint256 poolId, address user) returns (((uint64 since, uint64 until) stamp, uint256[] rewards, (uint128 lastStake, uint256 deposited, uint256 rate, uint256 pending) data) position)',
        arguments: { poolId: 3 },
        output: 'position.data.deposited',
      },
      [500n, 20n, 0n],
      [400n, 20n, 0n],
    ],
  ])('tell balances: %s', async (_case, view, first, last) => {
    expect(await reader(balance(view)).stakeBalances(WALLETS, before)).toEqual(first);
    expect(await reader(balance(view)).stakeBalances(WALLETS, after)).toEqual(last);
  });

  it('tell totals, of several contracts too', async () => {
    const totalOf = (view: unknown, contracts = [pools.address]) =>
      reader({ ...total(view), contracts }).stakeTotal(after);
    expect(await totalOf(POOLS(3))).toBe(420n);
    expect(await totalOf([POOLS(3), POOLS(4)])).toBe(426n);
    expect(await totalOf(POOLS(3), [pools.address, other.address])).toBe(421n);
    expect(await totalOf([POOLS(4), POOLS(3, { contract: other.address })])).toBe(7n);
    expect(await reader(total(POOLS(3))).stakeTotal(before)).toBe(520n);
  });

  it('agree with the events of their pool, from one description of the contract', async () => {
    const entry = (name: string, effect: string) => ({
      event: `event ${name}(uint256 indexed poolId, address indexed user, uint256 amount)`,
      account: 'user',
      amount: 'amount',
      effect,
      where: { poolId: 3 },
    });
    const text = JSON.stringify({
      events: [entry('UserStaked', 'increase'), entry('UserWithdrawn', 'decrease')],
      totalView: POOLS(3),
      balanceView: USERS(3),
    });
    const described = reader(resolveStakeViews(parseStakeDescription(text)));
    for (const block of [before, after]) {
      const { balances, total: sum } = await bench.fold([pools.address], text, block.number);
      expect(await described.stakeBalances(WALLETS, block)).toEqual(
        WALLETS.map((wallet) => balances.get(wallet) ?? 0n),
      );
      expect(await described.stakeTotal(block)).toBe(sum);
    }
  });

  it('are 0 before the contract was there', async () => {
    const genesis = await bench.block(0n);
    const early = reader({ ...total(POOLS(3)), ...balance(USERS(3)) });
    expect(await early.stakeTotal(genesis)).toBe(0n);
    expect(await early.stakeBalances(WALLETS, genesis)).toEqual([0n, 0n, 0n]);
  });

  it('are refused for good where the contract answers with less than they declare', async () => {
    const long = total({
      function:
        'function poolsData(uint256) returns (uint128, uint256, uint256 total, uint256, uint256)',
      arguments: { 0: 3 },
      output: 'total',
    });
    await expect(reader(long).stakeTotal(after)).rejects.toMatchObject({
      code: 'STAKE_VIEW_MISMATCH',
      retryable: false,
      message: `The view poolsData(uint256) of ${pools.address} answered with 96 bytes, where the declared outputs take at least 160. Compare its declaration with the contract.`,
    });
    const rate = balance({
      function: 'function usersData(address, uint256) returns (uint128, uint256, uint8 rate)',
      arguments: { 1: 3 },
      output: 'rate',
    });
    const rates = reader(rate);
    // The wallet of the view's trial has no rate, so only wallets with a rate reveal the wrong type.
    await expect(rates.stakeBalances([ALICE], after)).rejects.toMatchObject({
      failures: [
        {
          code: 'RPC_MALFORMED_ANSWER',
          message: expect.stringMatching(
            /usersData\(address,uint256\) of 0x\w+ answered with a number beyond uint8/,
          ),
        },
      ],
    });
  });

  it('are missing, and it is said why, where the contract has no such function or refuses', async () => {
    const node = await startFaultyNode({ upstream: bench.chain.url });
    try {
      for (const [view, what] of [
        [{ function: 'function stakedOf(address) returns (uint256)' }, 'reverts'],
        [
          {
            function: 'function stakeOf(uint256 poolId, address user) returns (uint256)',
            arguments: { poolId: 3 },
          },
          'reverts',
        ],
        [
          { function: 'function balanceOf(address) returns (uint256)', contract: ALICE },
          'answers nothing',
        ],
      ] as const) {
        const warnings: string[] = [];
        const pool = bench.pool([node.url], ({ message }) => warnings.push(message));
        const silent = bench.reader({ contracts: [pools.address], ...balance(view) }, pool);
        expect(await silent.stakeBalances(WALLETS, after)).toBeUndefined();
        expect([silent.wantsBalances, silent.hasBalances]).toEqual([true, false]);
        expect(warnings).toEqual([
          expect.stringMatching(
            new RegExp(`^The view \\w+\\(.*\\) of 0x\\w+ ${what}\\. Check its name`),
          ),
        ]);
      }
    } finally {
      await node.close();
    }
  });

  it('are missing without a word where nothing is set and the contract has none', async () => {
    const warnings: string[] = [];
    const pool = bench.pool(undefined, ({ message }) => warnings.push(message));
    const usual = bench.reader({ contracts: [pools.address] }, pool);
    expect(await usual.stakeBalances(WALLETS, after)).toBeUndefined();
    expect(await usual.stakeTotal(after)).toBeUndefined();
    expect([usual.hasBalances, usual.hasTotal, warnings]).toEqual([false, false, []]);
  });

  it('survive one rubbish answer to their trial', async () => {
    const node: FaultyNode = await startFaultyNode({
      upstream: bench.chain.url,
      fault: { kind: 'result', method: 'eth_call', result: '0x1234', times: 1 },
    });
    try {
      const options = { contracts: [pools.address], ...total(POOLS(3)) };
      const two = bench.reader(options, bench.pool([node.url, bench.chain.url]));
      expect(await two.stakeTotal(after)).toBe(420n);
    } finally {
      await node.close();
    }
  });
});
