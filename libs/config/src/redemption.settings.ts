/** Settings of the redemption service that other programs read too. */
import { address, commaList, privateKey, type SettingOptions } from './setting.js';

const HOST = /^[a-z0-9.-]+(?::\d{1,5})?$/;

export const VAULT_CONTRACT_SETTING: SettingOptions = {
  description: 'The vault that pays vouchers, a RedemptionVault that holds the token.',
  example: '0x3333333333333333333333333333333333333333',
  parse: address,
};

export const VOUCHER_SIGNER_KEY_SETTING: SettingOptions = {
  description: 'Signs vouchers; its address holds SIGNER_ROLE of the vault.',
  secret: true,
  parse: privateKey,
};

export const VAULT_CANCELLER_KEY_SETTING: SettingOptions = {
  description:
    'Cancels vouchers on chain; its address holds CANCELLER_ROLE and some coin for gas. Unset: VOUCHER_SIGNER_KEY does.',
  secret: true,
  optional: true,
  parse: privateKey,
};

export const VAULT_PAUSER_KEY_SETTING: SettingOptions = {
  description:
    'Pauses the vault when a claim is found that nothing authorised; its address holds PAUSER_ROLE and some coin for gas. Not the VOUCHER_SIGNER_KEY. Unset: an operator pauses it.',
  secret: true,
  optional: true,
  parse: privateKey,
};

export const VOUCHER_TTL_SETTING: SettingOptions = {
  description:
    'How long a voucher can be claimed; after that the points go back. Not longer than maxTtlSeconds of the vault.',
  default: '1800',
  min: 10,
  max: 86_400,
};

/** Ages of a price if PRICE_MAX_AGE_SECONDS is not set: for answers and among several sources, and for redemptions. */
export const ANSWERED_PRICE_MAX_AGE_SECONDS = 7200;
export const REDEEMED_PRICE_MAX_AGE_SECONDS = 600;

export const PRICE_MAX_AGE_SETTING: SettingOptions = {
  description: `The oldest price that counts. Unset: ${REDEEMED_PRICE_MAX_AGE_SECONDS} for redemptions, ${ANSWERED_PRICE_MAX_AGE_SECONDS} in answers and among several sources. For a feed whose rounds are further apart: its heartbeat and some minutes more.`,
  optional: true,
  min: 1,
};

export const SIWE_DOMAINS_SETTING: SettingOptions = {
  description:
    'Hosts of the pages that users sign in on, with their ports, separated by commas: the domains of Sign-In with Ethereum messages.',
  example: 'app.example.com',
  parse: hosts,
};

export const ALLOW_PRIVATE_PARTNERS_SETTING: SettingOptions = {
  description:
    'Development only: partners may be called over http and at loopback and private addresses. Refused where NODE_ENV is production.',
  default: 'false',
  unlisted: true,
};

function hosts(text: string): string[] {
  const parts = commaList(text.toLowerCase());
  if (!parts.every((part) => HOST.test(part))) {
    throw new Error('must be host names with their ports, if any, separated by commas');
  }
  return parts;
}
