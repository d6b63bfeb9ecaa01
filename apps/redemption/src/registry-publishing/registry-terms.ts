import { addressOfKey } from '#libs/chain';
import { type SetRegistry } from '#libs/config';
import { type RegistryPlace } from '#libs/db';
import { PermanentError } from '#libs/domain';
import { type RedemptionSettings } from '../redemption.env.js';

/** A transaction in no block after five minutes is replaced by one that pays more: several blocks of any chain. */
const REPLACE_MS = 300_000;

/** Where and how the days of one stake set are published. */
export class RegistryTerms {
  readonly place: RegistryPlace;
  readonly privateKey: string;
  /** Days since 1970-01-01 UTC. */
  readonly firstDay: number;
  readonly stakeSet: string;
  readonly delayMs: number;
  readonly replaceMs: number;

  private constructor(
    readonly settings: RedemptionSettings,
    { stakeSet = settings.stakeSet, registry }: SetRegistry,
    required: { readonly privateKey: string; readonly firstDay: number },
  ) {
    this.place = { chainId: settings.chainId, registry };
    this.stakeSet = stakeSet;
    this.privateKey = required.privateKey;
    this.firstDay = required.firstDay;
    this.delayMs = settings.registryDelaySeconds * 1000;
    this.replaceMs = REPLACE_MS;
  }

  /**
   * One for each stake set with a registry; none where nothing is published.
   * @throws PermanentError REGISTRY_SETTINGS_INCOMPLETE, REGISTRY_KEY_SHARED; no message repeats a key
   */
  static of(settings: RedemptionSettings): RegistryTerms[] {
    const {
      registryAddress,
      registryPrivateKey: privateKey,
      registryFirstDay: firstDay,
    } = settings;
    if (registryAddress === undefined) return [];
    if (privateKey === undefined || firstDay === undefined) {
      throw new PermanentError(
        'REGISTRY_SETTINGS_INCOMPLETE',
        'REGISTRY_ADDRESS is set: set REGISTRY_PRIVATE_KEY and REGISTRY_FIRST_DAY as well, or none of them.',
      );
    }
    requireOwnKey(settings, privateKey);
    return registryAddress.map((one) => new RegistryTerms(settings, one, { privateKey, firstDay }));
  }
}

/**
 * Refuses a key that the vault uses as well: two jobs that count the nonces of one account would replace each other's
 * transactions.
 */
function requireOwnKey(settings: RedemptionSettings, privateKey: string): void {
  const { voucherSignerKey, vaultCancellerKey, vaultPauserKey } = settings;
  const publisher = addressOfKey(privateKey);
  const vault = [
    ['VOUCHER_SIGNER_KEY', voucherSignerKey],
    ['VAULT_CANCELLER_KEY', vaultCancellerKey],
    ['VAULT_PAUSER_KEY', vaultPauserKey],
  ] as const;
  for (const [variable, key] of vault) {
    if (key === undefined || addressOfKey(key) !== publisher) continue;
    throw new PermanentError(
      'REGISTRY_KEY_SHARED',
      `REGISTRY_PRIVATE_KEY is the key of ${variable}: its transactions would keep those of the vault waiting. Make a key of its own, and let the admin of the registry grant it PUBLISHER_ROLE.`,
    );
  }
}
