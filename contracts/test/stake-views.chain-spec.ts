/** Tests views in the notation of docs/operating/contracts.md against a contract with pools and structs. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type ChainReader,
  type ChainReaderOptions,
  parseStakeDescription,
  resolveStakeViews,
} from '#libs/chain';
import { type Address, type BlockRef } from '#libs/domain';
import { aWallet, type FaultyNode, startFaultyNode } from '#libs/testing';
import { ContractBench, type DeployedContract } from './contract-bench.js';

const [ALICE, BOB, CAROL] = [aWallet(0xa11ce), aWallet(0xb0b), aWallet(0xca401)];
const WALLETS = [ALICE, BOB, CAROL];
const USERS = (pool: number): string =>
  `usersData(address user, uint256 poolId = ${pool}) view returns (uint128, uint256 deposited, uint256, uint256) -> deposited`;
const POOLS = (pool: number): string =>
  `function poolsData(uint256 = ${pool}) view returns (uint128, uint256, uint256 totalDeposited) -> totalDeposited`;

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

  it.each<[string, ChainReaderOptions['balanceView'], bigint[], bigint[]]>([
    ['one of several outputs', USERS(3), [500n, 20n, 0n], [400n, 20n, 0n]],
    [
      'fewer outputs than there are',
      'usersData(address, uint256 = 3) returns (uint128, uint256) -> 1',
      [500n, 20n, 0n],
      [400n, 20n, 0n],
    ],
    ['two pools that add up', `${USERS(3)} + ${USERS(4)}`, [506n, 20n, 0n], [406n, 20n, 0n]],
    [
      'inside a struct with a list',
      'positionOf(uint256 poolId = 3, address user) returns (((uint64 since, uint64 until) stamp, uint256[] rewards, (uint128 lastStake, uint256 deposited, uint256 rate, uint256 pending) data) position) -> position.data.deposited',
      [500n, 20n, 0n],
      [400n, 20n, 0n],
    ],
  ])('tell balances: %s', async (_case, balanceView, first, last) => {
    expect(await reader({ balanceView }).stakeBalances(WALLETS, before)).toEqual(first);
    expect(await reader({ balanceView }).stakeBalances(WALLETS, after)).toEqual(last);
  });

  it('tell totals, of several contracts too', async () => {
    const totalOf = (totalView: string, contracts = [pools.address]) =>
      reader({ totalView, contracts }).stakeTotal(after);
    expect(await totalOf(POOLS(3))).toBe(420n);
    expect(await totalOf(`${POOLS(3)} + ${POOLS(4)}`)).toBe(426n);
    expect(await totalOf(POOLS(3), [pools.address, other.address])).toBe(421n);
    expect(await totalOf(`${POOLS(4)} + ${POOLS(3)} at ${other.address}`)).toBe(7n);
    expect(await reader({ totalView: POOLS(3) }).stakeTotal(before)).toBe(520n);
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
      balanceView: {
        function:
          'usersData(address user, uint256 poolId) returns (uint128, uint256 deposited, uint256, uint256)',
        arguments: { poolId: 3 },
        output: 'deposited',
      },
    });
    const described = reader(resolveStakeViews(parseStakeDescription(text), {}));
    for (const block of [before, after]) {
      const { balances, total } = await bench.fold([pools.address], text, block.number);
      expect(await described.stakeBalances(WALLETS, block)).toEqual(
        WALLETS.map((wallet) => balances.get(wallet) ?? 0n),
      );
      expect(await described.stakeTotal(block)).toBe(total);
    }
  });

  it('are 0 before the contract was there', async () => {
    const genesis = await bench.block(0n);
    const early = reader({ totalView: POOLS(3), balanceView: USERS(3) });
    expect(await early.stakeTotal(genesis)).toBe(0n);
    expect(await early.stakeBalances(WALLETS, genesis)).toEqual([0n, 0n, 0n]);
  });

  it('are refused for good where the contract answers with less than they declare', async () => {
    const totalView =
      'poolsData(uint256 = 3) returns (uint128, uint256, uint256 total, uint256, uint256) -> total';
    await expect(reader({ totalView }).stakeTotal(after)).rejects.toMatchObject({
      code: 'STAKE_VIEW_MISMATCH',
      retryable: false,
      message: `The view poolsData(uint256) of ${pools.address} answered with 96 bytes, where the declared outputs take at least 160. Compare its declaration with the contract.`,
    });
    const balanceView =
      'usersData(address, uint256 = 3) returns (uint128, uint256, uint8 rate) -> rate';
    const rates = reader({ balanceView });
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
        ['stakedOf(address) returns (uint256)', 'reverts'],
        ['stakeOf(uint256 poolId = 3, address user) returns (uint256)', 'reverts'],
        [`balanceOf(address) returns (uint256) at ${ALICE}`, 'answers nothing'],
      ] as const) {
        const warnings: string[] = [];
        const pool = bench.pool([node.url], ({ message }) => warnings.push(message));
        const silent = bench.reader({ contracts: [pools.address], balanceView: view }, pool);
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
      const options = { contracts: [pools.address], totalView: POOLS(3) };
      const two = bench.reader(options, bench.pool([node.url, bench.chain.url]));
      expect(await two.stakeTotal(after)).toBe(420n);
    } finally {
      await node.close();
    }
  });
});
