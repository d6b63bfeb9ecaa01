import {
  ALLOW_PRIVATE_PARTNERS_SETTING,
  EVIDENCE_KEY_SETTING,
  INDEX_MAX_LAG_SETTING,
  NODE_ENV_SETTING,
  PRICE_MAX_AGE_SETTING,
  readSettings,
  REDIS_URL_SETTING,
  REGISTRY_ADDRESS_SETTING,
  REGISTRY_PRIVATE_KEY_SETTING,
  SECRETS_KEY_SETTING,
  Setting,
  type SetRegistry,
  SettingsError,
  settingsOf,
  type SettingsSource,
  SIWE_DOMAINS_SETTING,
  TOKEN_CONTRACT_SETTING,
  unknownSettings,
  VAULT_CANCELLER_KEY_SETTING,
  VAULT_CONTRACT_SETTING,
  VAULT_PAUSER_KEY_SETTING,
  VOUCHER_SIGNER_KEY_SETTING,
  VOUCHER_TTL_SETTING,
} from '#libs/config';
import { type Address } from '#libs/domain';
import {
  parsePriceSources,
  PRICE_BOUNDS_SETTING,
  type PriceBounds,
  type PriceSource,
} from '#libs/price';
import { StakingSettings } from '#libs/operations';

export type Variable =
  | 'DATABASE_URL'
  | 'SECRETS_KEY'
  | 'REDIS_URL'
  | 'CHAIN_ID'
  | 'RPC_URLS'
  | 'TOKEN_CONTRACT'
  | 'VAULT_CONTRACT'
  | 'REGISTRY_ADDRESS'
  | 'PRICE_SOURCE'
  | 'VOUCHER_SIGNER_KEY'
  | 'EVIDENCE_KEY';

/**
 * The services' settings that the doctor examines, none of them required; docs/operating/settings.md describes them by
 * service. A service checks the settings that only itself reads.
 */
export class DoctorSettings extends StakingSettings {
  @Setting({ ...SECRETS_KEY_SETTING, optional: true })
  readonly secretsKey?: string;

  @Setting(REDIS_URL_SETTING)
  readonly redisUrl?: string;

  @Setting({ ...TOKEN_CONTRACT_SETTING, optional: true })
  readonly tokenContract?: Address;

  @Setting(INDEX_MAX_LAG_SETTING)
  readonly indexMaxLagSeconds!: number;

  @Setting({
    description: 'Where the price comes from.',
    secret: true,
    optional: true,
    parse: parsePriceSources,
  })
  readonly priceSource?: readonly PriceSource[];

  @Setting(PRICE_MAX_AGE_SETTING)
  readonly priceMaxAgeSeconds?: number;

  @Setting(PRICE_BOUNDS_SETTING)
  readonly priceBoundsUsd?: PriceBounds;

  @Setting({ ...VAULT_CONTRACT_SETTING, optional: true })
  readonly vaultContract?: Address;

  @Setting({ ...VOUCHER_SIGNER_KEY_SETTING, optional: true })
  readonly voucherSignerKey?: string;

  @Setting(VAULT_CANCELLER_KEY_SETTING)
  readonly vaultCancellerKey?: string;

  @Setting(VAULT_PAUSER_KEY_SETTING)
  readonly vaultPauserKey?: string;

  @Setting(REGISTRY_ADDRESS_SETTING)
  readonly registryAddress?: readonly SetRegistry[];

  @Setting(REGISTRY_PRIVATE_KEY_SETTING)
  readonly registryPrivateKey?: string;

  @Setting({ ...EVIDENCE_KEY_SETTING, optional: true })
  readonly evidenceKey?: string;

  @Setting({ ...SIWE_DOMAINS_SETTING, optional: true })
  readonly siweDomains?: string[];

  @Setting(ALLOW_PRIVATE_PARTNERS_SETTING)
  readonly allowPrivatePartners!: boolean;

  @Setting(NODE_ENV_SETTING)
  readonly nodeEnv?: string;

  @Setting(VOUCHER_TTL_SETTING)
  readonly voucherTtlSeconds!: number;
}

export interface ReadDoctorSettings {
  readonly settings: DoctorSettings;
  /** The expected form by variable, for variables with an invalid value; these count as absent. */
  readonly faults: ReadonlyMap<string, string>;
  /** Number of variables that are set. */
  readonly given: number;
  /** A sentence for each variable that looks like a setting and is none. */
  readonly unknown: readonly string[];
}

/** Reads the settings and leaves out the invalid ones. */
export function readDoctorSettings(source: SettingsSource): ReadDoctorSettings {
  const given = settingsOf(DoctorSettings).filter(({ variable }) =>
    Boolean(source[variable] || source[`${variable}_FILE`]),
  ).length;
  const unknown = unknownSettings(source);
  try {
    return { settings: readSettings(DoctorSettings, source), faults: new Map(), given, unknown };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const { faults } = error;
    const wrong = [...faults.keys()].flatMap((variable) => [
      [variable, undefined] as const,
      [`${variable}_FILE`, undefined] as const,
    ]);
    const usable = { ...source, ...Object.fromEntries(wrong) };
    return { settings: readSettings(DoctorSettings, usable), faults, given, unknown };
  }
}
