/** The contracts of a synthetic chain: their addresses, events and views. */
import { parseAbi, toEventSelector, toFunctionSelector } from 'viem';
import { type Address } from '#libs/domain';
import { type ReplayShape } from './replay-shape.js';
import { numberOfAddress, seededAddress } from './seeded.js';

const STAKING_SALT = 0x57a4e;
const TOKEN_SALT = 0x70ce7;
const WALLET_SALT = 0x3a11e7;

/** The pool whose stakes are indexed. */
export const FOLLOWED_POOL = 0;

/** The address of Multicall3 on nearly every chain (https://www.multicall3.com/deployments). */
export const MULTICALL3 = '0xca11bde05977b3631167028862be2a173976ca11' as Address;

export const MULTICALL_ABI = parseAbi([
  'struct Call3 { address target; bool allowFailure; bytes callData; }',
  'struct Result { bool success; bytes returnData; }',
  'function aggregate3(Call3[] calls) payable returns (Result[] returnData)',
]);

export const SELECTORS = {
  symbol: toFunctionSelector('symbol()'),
  decimals: toFunctionSelector('decimals()'),
  totalStaked: toFunctionSelector('totalStaked()'),
  totalSupply: toFunctionSelector('totalSupply()'),
  balanceOf: toFunctionSelector('balanceOf(address)'),
  userInfo: toFunctionSelector('userInfo(uint256,address)'),
  aggregate3: toFunctionSelector('aggregate3((address,bool,bytes)[])'),
} as const;

const EVENTS = {
  simple: {
    increase: 'event Staked(address indexed user, uint256 amount)',
    decrease: 'event Withdrawn(address indexed user, uint256 amount)',
  },
  masterchef: {
    increase: 'event UserStaked(uint256 indexed poolId, address indexed user, uint256 amount)',
    decrease: 'event UserUnstaked(uint256 indexed poolId, address indexed user, uint256 amount)',
  },
} as const;

export interface ReplayContracts {
  readonly staking: Address;
  readonly token: Address;
  readonly topics: { readonly increase: string; readonly decrease: string };
  /** The value of STAKE_EVENTS: the name of a preset, or the content of a JSON file. */
  readonly stakeEvents: string;
}

export function contractsOf({ seed, contract }: ReplayShape): ReplayContracts {
  const { increase, decrease } = EVENTS[contract];
  const entry = (event: string, effect: string): object => ({
    ...{ event, account: 'user', amount: 'amount', effect },
    where: { poolId: String(FOLLOWED_POOL) },
  });
  return {
    staking: seededAddress(STAKING_SALT, seed),
    token: seededAddress(TOKEN_SALT, seed),
    topics: { increase: toEventSelector(increase), decrease: toEventSelector(decrease) },
    stakeEvents:
      contract === 'simple'
        ? 'staked-withdrawn'
        : JSON.stringify([entry(increase, 'increase'), entry(decrease, 'decrease')]),
  };
}

export function replayWallet({ seed }: ReplayShape, wallet: number): Address {
  return seededAddress(WALLET_SALT + seed, wallet);
}

/** The number of a wallet of the shape; undefined for other addresses. @param address lower case */
export function replayWalletNumber(
  { seed, wallets }: ReplayShape,
  address: string,
): number | undefined {
  const number = numberOfAddress(WALLET_SALT + seed, address);
  return number !== undefined && number < wallets ? number : undefined;
}

export function wordOfAddress(address: string): string {
  return `0x${'0'.repeat(24)}${address.slice(2)}`;
}

export function wordOfNumber(value: number | bigint): string {
  return `0x${value.toString(16).padStart(64, '0')}`;
}
