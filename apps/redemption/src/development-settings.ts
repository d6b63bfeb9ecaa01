import { publishedKeys } from '#libs/chain';
import {
  developmentChain,
  type DevelopmentSetting,
  localPages,
  openRedis,
  privatePartners,
  refuseDevelopment,
  refuseSharedEvidenceKey,
} from '#libs/config';
import { type RedemptionSettings } from './redemption.env.js';

/**
 * What must never be, and what must not be in production.
 * @throws PermanentError EVIDENCE_KEY_SHARED, DEVELOPMENT_SETTINGS; no message repeats a key
 */
export function refuseUnsafeSettings(settings: RedemptionSettings): void {
  const { evidenceKey, secretsKey, nodeEnv } = settings;
  refuseSharedEvidenceKey(evidenceKey, secretsKey);
  // Reckoning which keys are published takes a moment.
  if (nodeEnv === 'production') refuseDevelopment(nodeEnv, developmentSettings(settings));
}

function developmentSettings(settings: RedemptionSettings): DevelopmentSetting[] {
  return [
    developmentChain(settings.chainId),
    openRedis(settings.redisUrl),
    localPages(settings.siweDomains),
    privatePartners(settings.allowPrivatePartners),
    ...publishedKeys(settings),
  ];
}
