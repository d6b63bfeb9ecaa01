/** What the settings say of the vault and its keys, looked at once before the service starts. */
import { addressOfKey, readVaultFacts, type RpcPool, ttlFaults } from '#libs/chain';
import { LowmarkError, PermanentError } from '#libs/domain';
import { type Logger } from '#libs/platform';
import { type RedemptionSettings } from '../redemption.env.js';

/** @throws PermanentError where the pauser's key is the signer's; a thief of it would be asked to stop himself */
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
 * A vault that cannot be read now is no reason not to start: the health page says later what is wrong.
 * @throws PermanentError where vouchers would live longer than the vault pays them
 */
export async function checkVoucherTtl(settings: RedemptionSettings, pool: RpcPool): Promise<void> {
  const { chainId, vaultContract: vault, tokenContract: token, voucherTtlSeconds } = settings;
  const question = { place: { chainId, vault }, token, signer: vault, voucherTtlSeconds };
  const facts = await readVaultFacts(pool, question).catch((error: unknown) => {
    if (error instanceof LowmarkError) return { maxTtlSeconds: undefined };
    throw error;
  });
  const [fault] = ttlFaults(facts, question);
  if (fault !== undefined) throw new PermanentError('VOUCHER_TTL_TOO_LONG', fault);
}
