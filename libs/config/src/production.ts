import { PermanentError } from '#libs/domain';
import { oneOf, type SettingOptions } from './setting.js';

const ENVIRONMENTS = ['production', 'staging', 'development', 'test'] as const;
export type Environment = (typeof ENVIRONMENTS)[number];

/** NODE_ENV. Unknown values are refused, so that a typing error does not disable the checks of production. */
export const NODE_ENV_SETTING: SettingOptions = {
  description: `${ENVIRONMENTS.join(', ')}. production refuses what is meant for development.`,
  optional: true,
  parse: oneOf(ENVIRONMENTS),
};

/** Development chains, whose accounts have public keys. */
const DEVELOPMENT_CHAINS = [1337, 31_337];

/** A setting that is meant for development, and why production refuses it. */
export interface DevelopmentSetting {
  readonly variable: string;
  readonly isGiven: boolean;
  readonly why: string;
}

/** Whether the chain is a development chain. */
export function developmentChain(chainId: number): DevelopmentSetting {
  return {
    variable: 'CHAIN_ID',
    isGiven: DEVELOPMENT_CHAINS.includes(chainId),
    why: `${chainId} is a chain of development`,
  };
}

/**
 * Whether Redis is used without a password: any client that reaches it could lift limits and change amounts in answers
 * of the api.
 */
export function openRedis(redisUrl: string | undefined): DevelopmentSetting {
  return {
    variable: 'REDIS_URL',
    isGiven: redisUrl !== undefined && new URL(redisUrl).password === '',
    why: 'has no password. Give Redis one (requirepass, or an ACL user) and set redis://:PASSWORD@HOST:PORT, or rediss://',
  };
}

const LOCAL_HOST = /^(?:localhost|127\.\d+\.\d+\.\d+)(?::\d+)?$/;

/** Whether users sign in on a page of this machine. */
export function localPages(siweDomains: readonly string[]): DevelopmentSetting {
  return {
    variable: 'SIWE_DOMAINS',
    isGiven: siweDomains.some((domain) => LOCAL_HOST.test(domain)),
    why: 'names this machine',
  };
}

/** Whether partners may be called without encryption and on private addresses. */
export function privatePartners(isAllowed: boolean): DevelopmentSetting {
  return {
    variable: 'ALLOW_PRIVATE_PARTNERS',
    isGiven: isAllowed,
    why: 'partners on http or on private addresses are for development. Turn it off',
  };
}

/**
 * Refuses to start in production with settings that are meant for development.
 * @throws PermanentError DEVELOPMENT_SETTINGS that names all of them, and never the value of a secret
 */
export function refuseDevelopment(
  nodeEnv: string | undefined,
  settings: readonly DevelopmentSetting[],
): void {
  const given = settings.filter(({ isGiven }) => isGiven);
  if (nodeEnv !== 'production' || given.length === 0) return;
  const list = given.map(({ variable, why }) => `${variable}: ${why}`).join('; ');
  throw new PermanentError(
    'DEVELOPMENT_SETTINGS',
    `NODE_ENV is production, which refuses what is meant for development. ${list}. See docs/operating/install.md.`,
  );
}
