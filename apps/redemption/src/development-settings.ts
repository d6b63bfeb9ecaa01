import { isDevelopmentKey } from '#libs/chain';
import {
  developmentChain,
  type DevelopmentSetting,
  openRedis,
  refuseDevelopment,
} from '#libs/config';
import { PermanentError } from '#libs/domain';
import { type RedemptionSettings } from './redemption.env.js';

const LOCAL_HOST = /^(?:localhost|127\.\d+\.\d+\.\d+)(?::\d+)?$/;

/**
 * What must never be, and what must not be in production.
 * @throws PermanentError EVIDENCE_KEY_SHARED, DEVELOPMENT_SETTINGS; no message repeats a key
 */
export function refuseUnsafeSettings(settings: RedemptionSettings): void {
  const { evidenceKey, secretsKey, nodeEnv } = settings;
  const secrets = keysOf(secretsKey);
  if (keysOf(evidenceKey).some((key) => secrets.includes(key))) {
    throw new PermanentError(
      'EVIDENCE_KEY_SHARED',
      'EVIDENCE_KEY is one of SECRETS_KEY, which the api has as well: make one of its own, openssl rand -base64 32.',
    );
  }
  // Reckoning which keys are published takes a moment.
  if (nodeEnv === 'production') refuseDevelopment(nodeEnv, developmentSettings(settings));
}

function developmentSettings(settings: RedemptionSettings): DevelopmentSetting[] {
  const { chainId, redisUrl, siweDomains, voucherSignerKey, vaultCancellerKey } = settings;
  const published = 'the key is published with development chains';
  return [
    developmentChain(chainId),
    openRedis(redisUrl),
    {
      variable: 'SIWE_DOMAINS',
      isGiven: siweDomains.some((domain) => LOCAL_HOST.test(domain)),
      why: 'names this machine',
    },
    {
      variable: 'VOUCHER_SIGNER_KEY',
      isGiven: isDevelopmentKey(voucherSignerKey),
      why: published,
    },
    {
      variable: 'VAULT_CANCELLER_KEY',
      isGiven: vaultCancellerKey !== undefined && isDevelopmentKey(vaultCancellerKey),
      why: published,
    },
  ];
}

function keysOf(text: string): string[] {
  return text.split(',').map((key) => key.trim());
}
