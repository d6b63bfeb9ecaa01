/**
 * Tests what STAKE_EVENTS describes against contracts of each kind: views in the notation of docs/operating/contracts.md,
 * and presets, whose balances folded from events equal the contract's own, block by block.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parseAbi } from 'viem';
import {
  type ChainReader,
  type ChainReaderOptions,
  parseStakeDescription,
  parseStakeViews,
  resolveStakeViews,
} from '#libs/chain';
import { type DevTransaction } from '#libs/devchain';
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

let bench: ContractBench;
beforeAll(async () => {
  bench = await ContractBench.start(WALLETS);
});
afterAll(() => bench.stop());

describe('views of a contract with pools', () => {
  let pools: DeployedContract;
  let other: DeployedContract;
  let before: BlockRef;
  let after: BlockRef;

  beforeAll(async () => {
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

const ERC20 = parseAbi([
  'function approve(address spender, uint256 value) returns (bool)',
  'function transfer(address to, uint256 value) returns (bool)',
]);

type Call = (from: Address, ...call: readonly [string, ...unknown[]]) => DevTransaction;

interface PresetCase {
  readonly contract: string;
  readonly presets: readonly string[];
  /** Whether the constructor takes the token's address. */
  readonly ofToken?: boolean;
  /** Calls before the history. */
  readonly prepare?: (token: Address) => readonly (readonly [string, ...unknown[]])[];
  /** The blocks of the history. `gift` sends tokens to the contract directly, without a call of its functions. */
  readonly history: (call: Call, gift: DevTransaction) => readonly (readonly DevTransaction[])[];
  readonly hasTotal: boolean;
  /** Final stakes of the three wallets by the first preset. They make the test fail where no event was counted. */
  readonly ends: readonly bigint[];
}

const CASES: readonly PresetCase[] = [
  {
    contract: 'StakingRewards',
    presets: ['synthetix-staking-rewards', 'staked-withdrawn'],
    ofToken: true,
    history: (call, gift) => [
      [call(ALICE, 'stake', 500n), call(BOB, 'stake', 70n)],
      [call(ALICE, 'withdraw', 120n), gift, call(CAROL, 'stake', 9n)],
      [call(BOB, 'exit'), call(ALICE, 'stake', 1n)],
    ],
    hasTotal: true,
    ends: [381n, 0n, 9n],
  },
  {
    contract: 'MasterChefV1',
    presets: ['masterchef-v1:1', 'masterchef-v1:0'],
    prepare: (token) => [
      ['add', token],
      ['add', token],
    ],
    history: (call, gift) => [
      [call(ALICE, 'deposit', 0n, 500n), call(ALICE, 'deposit', 1n, 30n)],
      [call(BOB, 'deposit', 1n, 70n), call(ALICE, 'deposit', 1n, 0n), gift],
      [call(ALICE, 'withdraw', 0n, 20n), call(CAROL, 'deposit', 1n, 8n)],
      [call(BOB, 'emergencyWithdraw', 1n), call(ALICE, 'withdraw', 1n, 5n)],
      [call(BOB, 'deposit', 1n, 2n), call(ALICE, 'emergencyWithdraw', 0n)],
    ],
    hasTotal: false,
    ends: [25n, 2n, 8n],
  },
  {
    contract: 'MasterChefV2',
    presets: ['masterchef-v2:1', 'masterchef-v2:0'],
    prepare: (token) => [
      ['add', token],
      ['add', token],
    ],
    history: (call, gift) => [
      [call(ALICE, 'deposit', 1n, 500n, BOB), call(ALICE, 'deposit', 0n, 30n, ALICE)],
      [call(BOB, 'withdraw', 1n, 100n, CAROL), call(CAROL, 'deposit', 1n, 11n, CAROL), gift],
      [call(BOB, 'withdrawAndHarvest', 1n, 1n, ALICE), call(BOB, 'deposit', 1n, 4n, ALICE)],
      [call(CAROL, 'emergencyWithdraw', 1n, ALICE), call(ALICE, 'withdraw', 0n, 30n, BOB)],
    ],
    hasTotal: false,
    ends: [4n, 399n, 0n],
  },
  {
    contract: 'Vault',
    presets: ['erc4626', 'transfer'],
    ofToken: true,
    history: (call, gift) => [
      [call(ALICE, 'deposit', 1_000n, ALICE), call(ALICE, 'deposit', 500n, BOB)],
      [gift, call(BOB, 'transfer', CAROL, 200n)],
      [call(ALICE, 'withdraw', 100n, CAROL, ALICE), call(CAROL, 'redeem', 50n, CAROL, CAROL)],
      [call(BOB, 'mint', 7n, BOB), call(ALICE, 'transfer', ALICE, 5n)],
    ],
    hasTotal: true,
    ends: [918n, 307n, 150n],
  },
  {
    contract: 'Receipt',
    presets: ['erc20-receipt', 'transfer'],
    ofToken: true,
    history: (call, gift) => [
      [call(ALICE, 'enter', 100n), call(BOB, 'enter', 10n), gift],
      [call(ALICE, 'transfer', CAROL, 60n), call(BOB, 'transfer', BOB, 3n)],
      [call(CAROL, 'leave', 60n), call(ALICE, 'leave', 1n), call(BOB, 'transfer', CAROL, 0n)],
    ],
    hasTotal: true,
    ends: [39n, 10n, 0n],
  },
  {
    contract: 'TokenStaking',
    presets: ['erc721-staking'],
    history: (call) => [
      [call(ALICE, 'stake', [1n, 2n, 30n]), call(BOB, 'stake', [4n])],
      [call(ALICE, 'unstake', 2n), call(BOB, 'unstake', 4n)],
      [call(CAROL, 'stake', [2n, 4n]), call(BOB, 'stake', [50n])],
    ],
    hasTotal: true,
    ends: [2n, 1n, 2n],
  },
  {
    contract: 'TokenReceipt',
    presets: ['erc721-receipt'],
    history: (call) => [
      [call(ALICE, 'enter', 1n), call(ALICE, 'enter', 2n), call(BOB, 'enter', 30n)],
      [call(ALICE, 'transferFrom', ALICE, CAROL, 2n), call(BOB, 'leave', 30n)],
      [call(CAROL, 'transferFrom', CAROL, BOB, 2n), call(CAROL, 'enter', 4n)],
    ],
    hasTotal: false,
    ends: [1n, 1n, 1n],
  },
];

describe('presets of STAKE_EVENTS', () => {
  /** Plays the history of a case. @returns the contract, the block before the history, and each block of the history */
  async function play(one: PresetCase): Promise<{ contract: DeployedContract; at: bigint[] }> {
    const { token, treasury } = bench.chain.contracts;
    const contract = await bench.deploy(one.contract, ...(one.ofToken ? [token] : []));
    const call: Call = (from, ...rest) => bench.call(contract, from, ...rest);
    const erc20 = { address: token, abi: ERC20 };
    const approvals = WALLETS.map((wallet) =>
      bench.call(erc20, wallet, 'approve', contract.address, 2n ** 255n),
    );
    const prepared = (one.prepare?.(token) ?? []).map((rest) => call(treasury, ...rest));
    const at = [await bench.mine(...approvals, ...prepared)];
    const gift = bench.call(erc20, treasury, 'transfer', contract.address, 333n);
    for (const block of one.history(call, gift)) at.push(await bench.mine(...block));
    return { contract, at };
  }

  it.each(CASES)('$contract: $presets', async (one) => {
    const { contract, at } = await play(one);
    const contracts = [contract.address];
    for (const preset of one.presets) {
      const views = resolveStakeViews(parseStakeDescription(preset));
      const reader = bench.reader({ contracts, ...views });
      for (const number of at) {
        const block = await bench.block(number);
        const { balances, total } = await bench.fold(contracts, preset, number);
        const folded = WALLETS.map((wallet) => balances.get(wallet) ?? 0n);
        expect([preset, number, await reader.stakeBalances(WALLETS, block)]).toEqual([
          preset,
          number,
          folded,
        ]);
        expect(await reader.stakeTotal(block)).toBe(one.hasTotal ? total : undefined);
        // No balance is counted for the vault itself or for the zero address.
        expect(total).toBe(folded.reduce((sum, balance) => sum + balance, 0n));
      }
    }
    const [first = ''] = one.presets;
    const { balances } = await bench.fold(contracts, first, at.at(-1) ?? 0n);
    expect(WALLETS.map((wallet) => balances.get(wallet) ?? 0n)).toEqual(one.ends);
  });
});
