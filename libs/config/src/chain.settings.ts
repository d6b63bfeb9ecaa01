/** Settings of the chain that several programs read. */
import { type Address, DEFAULT_STAKE_SET, isStakeSetName, STAKE_SET_RULE } from '#libs/domain';
import {
  address,
  commaList,
  finality,
  naturalBigInt,
  type SettingOptions,
  urlList,
} from './setting.js';

export const CHAIN_ID_SETTING: SettingOptions = {
  description: 'The chain’s id; every endpoint must agree.',
  example: '2741',
  min: 1,
};

export const RPC_URLS_SETTING: SettingOptions = {
  description:
    'JSON-RPC endpoints separated by commas, the preferred one first. Each may end with a budget: #rps=25 (calls a second) or #cups=500 (compute units a second); in a file that Node reads then in double quotes.',
  secret: true,
  example: 'http://127.0.0.1:8545',
  parse: urlList('http', 'https'),
};

export const FINALITY_SETTING: SettingOptions = {
  description: 'Which blocks count as final: finalized, safe or depth:<blocks>.',
  default: 'finalized',
  parse: finality,
};

export const TOKEN_CONTRACT_SETTING: SettingOptions = {
  description: 'The staked token.',
  example: '0x1111111111111111111111111111111111111111',
  parse: address,
};

/**
 * With a single RPC endpoint: how long a voucher must be past its deadline by this machine's clock before its points go
 * back, whatever time the endpoint says that blocks are of. Far more than clocks differ, and short for a player.
 */
export const PAYOUT_EXPIRY_MARGIN_SECONDS = 300;

export const STAKE_SET_SETTING: SettingOptions = {
  description:
    'The stake set, if one installation indexes several contracts (docs/operating/several-contracts.md).',
  default: DEFAULT_STAKE_SET,
  parse: stakeSet,
};

export const STAKE_SETS_SETTING: SettingOptions = {
  description:
    'For `migrate`: names of stake sets besides the default one, separated by commas. Missing ones are made, none is ever removed. A name is ' +
    `${STAKE_SET_RULE}.`,
  optional: true,
  example: 'golf,chess',
  parse: (text) => [...new Set(commaList(text).map(stakeSet))],
};

export const STAKE_CONTRACT_SETTING: SettingOptions = {
  description:
    'The staking contract, or several separated by commas whose balances add up; the first is the one reported.',
  example: '0x2222222222222222222222222222222222222222',
  parse: addresses,
};

export const STAKE_START_BLOCK_SETTING: SettingOptions = {
  description: 'The block in which the (oldest) staking contract was deployed.',
  example: '1',
  parse: naturalBigInt,
};

export const STAKE_EVENTS_SETTING: SettingOptions = {
  description:
    'The events that change stakes, and the contract’s own figures to compare them with: a preset, JSON, or the path of a file with JSON (docs/operating/contracts.md).',
};

/** Blocks asked for at once, at most: few providers allow more. Below it the readers find what a provider allows. */
export const MAX_RANGE_BLOCKS = 10_000;

function stakeSet(text: string): string {
  if (!isStakeSetName(text)) throw new Error(`must be ${STAKE_SET_RULE}`);
  return text;
}

function addresses(text: string): [Address, ...Address[]] {
  const [first, ...rest] = [...new Set(commaList(text).map(address))];
  if (!first) throw new Error('must name at least one contract');
  return [first, ...rest];
}
