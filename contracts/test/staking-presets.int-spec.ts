/**
 * Tests each preset against a contract of its kind: the balances folded from events equal the contract's own, block by
 * block.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parseAbi } from 'viem';
import { parseStakeDescription, parseStakeViews, resolveStakeViews } from '#libs/chain';
import { type DevTransaction } from '#libs/devchain';
import { type Address } from '#libs/domain';
import { aWallet } from '#libs/testing/database';
import { ContractBench, type DeployedContract } from './contract-bench.js';

const [ALICE, BOB, CAROL] = [aWallet(0xa11ce), aWallet(0xb0b), aWallet(0xca401)];
const WALLETS = [ALICE, BOB, CAROL];
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
  let bench: ContractBench;

  beforeAll(async () => {
    bench = await ContractBench.start(WALLETS);
  });

  afterAll(() => bench.stop());

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

  it('of a vault count shares, whatever they are worth', async () => {
    const vault = CASES.find(({ contract }) => contract === 'Vault') as PresetCase;
    const { contract, at } = await play(vault);
    const totalAssets = { function: 'function totalAssets() returns (uint256)' };
    const assets = bench.reader({
      contracts: [contract.address],
      totalView: parseStakeViews(totalAssets, 'totalView', 'total'),
    });
    const shares = bench.reader({ contracts: [contract.address] });
    const block = await bench.block(at.at(-1) ?? 0n);
    expect(await assets.stakeTotal(block)).toBeGreaterThan((await shares.stakeTotal(block)) ?? 0n);
  });
});
