/** Checks the settings against each other and against the vault, once before the service starts. */
import { addressOfKey, publishedKeys, readVaultFacts, type RpcPool, ttlFaults } from '#libs/chain';
import {
  developmentChain,
  localPages,
  openRedis,
  privatePartners,
  refuseDevelopment,
  refuseSharedEvidenceKey,
} from '#libs/config';
import { LowmarkError, PermanentError } from '#libs/domain';
import { type Logger } from '#libs/platform';
import { type RedemptionSettings } from './redemption.env.js';

/**
 * Refuses settings that are never safe, and in production those that are safe in development only.
 * @throws PermanentError EVIDENCE_KEY_SHARED, DEVELOPMENT_SETTINGS; no message repeats a key
 */
export function refuseUnsafeSettings(settings: RedemptionSettings): void {
  const { evidenceKey, secretsKey, nodeEnv } = settings;
  refuseSharedEvidenceKey(evidenceKey, secretsKey);
  // Computing which keys are published takes a moment.
  if (nodeEnv !== 'production') return;
  refuseDevelopment(nodeEnv, [
    developmentChain(settings.chainId),
    openRedis(settings.redisUrl),
    localPages(settings.siweDomains),
    privatePartners(settings.allowPrivatePartners),
    ...publishedKeys(settings),
  ]);
}

/**
 * @throws PermanentError where the pauser's key is the signer's: a pause is the answer to a stolen signer's key, and
 *   must not depend on that key
 */
export function checkKeys(settings: RedemptionSettings, logger: Logger): void {
  const { voucherSignerKey, vaultCancellerKey = voucherSignerKey, vaultPauserKey } = settings;
  const signer = addressOfKey(voucherSignerKey);
  if (vaultPauserKey !== undefined && addressOfKey(vaultPauserKey) === signer) {
    throw new PermanentError(
      'PAUSER_IS_SIGNER',
      'VAULT_PAUSER_KEY is the key of VOUCHER_SIGNER_KEY. Make a key of its own, and let the admin of the vault grant it PAUSER_ROLE.',
    );
  }
  if (addressOfKey(vaultCancellerKey) === signer) {
    logger.warn(
      { signer },
      'The key that cancels vouchers is the key that signs them. Set VAULT_CANCELLER_KEY to a key of its own',
    );
  }
}

/**
 * A vault that cannot be read now does not prevent the start: the health page reports it later.
 * @throws PermanentError where vouchers would live longer than the vault accepts
 */
export async function checkVoucherTtl(settings: RedemptionSettings, pool: RpcPool): Promise<void> {
  const { vaultPlace: place, tokenContract: token, voucherTtlSeconds } = settings;
  const question = { place, token, signer: place.vault, voucherTtlSeconds };
  const facts = await readVaultFacts(pool, question).catch((error: unknown) => {
    if (error instanceof LowmarkError) return { maxTtlSeconds: undefined };
    throw error;
  });
  const [fault] = ttlFaults(facts, question);
  if (fault !== undefined) throw new PermanentError('VOUCHER_TTL_TOO_LONG', fault);
}
