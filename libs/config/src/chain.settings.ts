/** Settings of the chain that several programs read, each in a class of its own. */
import { address, finality, urlList } from './parsers.js';
import { type SettingOptions } from './setting.js';

export const CHAIN_ID_SETTING: SettingOptions = {
  description: 'The chain’s id; every endpoint must agree.',
  example: '2741',
};

export const RPC_URLS_SETTING: SettingOptions = {
  description:
    'JSON-RPC endpoints separated by commas, the preferred one first. Each may end with a budget that is kept: #rps=25 (calls a second) or #cups=500 (compute units a second); in a file that Node reads then in double quotes.',
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

/** Of all that judge what became of a voucher, which have to come to the same. */
export const PAYOUT_EXPIRY_MARGIN_SETTING: SettingOptions = {
  description:
    'With a single RPC endpoint: how long a voucher must be past its deadline by this machine’s clock before its points go back, whatever time the endpoint says that blocks are of.',
  default: '300',
};
