import { Max, Min } from 'class-validator';
import {
  address,
  commaList,
  EVIDENCE_KEY_SETTING,
  NODE_ENV_SETTING,
  readSettings,
  SECRETS_KEY_SETTING,
  Setting,
  SettingsError,
  settingsOf,
  type SettingsSource,
  TOKEN_CONTRACT_SETTING,
  url,
  urlList,
} from '#libs/config';
import { type Address, type Decimal } from '#libs/domain';
import {
  NotBelowMinimum,
  parsePriceSources,
  PRICE_MAX_AGE_SETTING,
  PRICE_MAX_CHANGE_PER_HOUR_SETTING,
  PRICE_MAX_CHANGE_SETTING,
  PRICE_MAX_SETTING,
  PRICE_MAX_SPREAD_SETTING,
  PRICE_MIN_SETTING,
  type PriceSource,
} from '#libs/price';
import { StakingSettings } from '#libs/operations';

/** The variables that a check may need. */
export type Variable =
  | 'DATABASE_URL'
  | 'DATABASE_READ_URLS'
  | 'SECRETS_KEY'
  | 'REDIS_URL'
  | 'CHAIN_ID'
  | 'RPC_URLS'
  | 'TOKEN_CONTRACT'
  | 'VAULT_CONTRACT'
  | 'PRICE_SOURCE'
  | 'VOUCHER_SIGNER_KEY';

const PRIVATE_KEY = /^(?:0x)?[0-9a-fA-F]{64}$/;

function privateKey(text: string): string {
  if (!PRIVATE_KEY.test(text)) throw new Error('must be a private key of 64 hex digits');
  return text;
}

const KEY = { description: 'A key of the vault.', secret: true, optional: true, parse: privateKey };

/**
 * What the doctor knows of the services' settings, none of them required; docs/operating/settings.md describes them where they are
 * used. Those of one service only are its own to check.
 */
export class DoctorSettings extends StakingSettings {
  @Setting({ ...SECRETS_KEY_SETTING, optional: true })
  readonly secretsKey?: string;

  @Setting({ description: 'Redis.', secret: true, optional: true, parse: url('redis', 'rediss') })
  readonly redisUrl?: string;

  @Setting({ ...TOKEN_CONTRACT_SETTING, optional: true })
  readonly tokenContract?: Address;

  @Setting({ description: 'Instead of what the token says.', optional: true })
  readonly tokenSymbol?: string;

  @Setting({ description: 'Instead of what the token says.', optional: true })
  @Min(0)
  @Max(77)
  readonly tokenDecimals?: number;

  @Setting({
    description: 'Standbys that the api reads from.',
    secret: true,
    optional: true,
    parse: urlList('postgresql', 'postgres'),
  })
  readonly databaseReadUrls?: string[];

  @Setting({ description: 'How far behind a standby may be.', default: '2' })
  @Min(1)
  @Max(60)
  readonly readMaxLagSeconds!: number;

  @Setting({ description: 'How far behind the index may be.', default: '120' })
  @Min(1)
  readonly indexMaxLagSeconds!: number;

  @Setting({
    description: 'Where the price comes from.',
    secret: true,
    optional: true,
    parse: parsePriceSources,
  })
  readonly priceSource?: readonly PriceSource[];

  @Setting(PRICE_MAX_AGE_SETTING)
  @Min(1)
  readonly priceMaxAgeSeconds!: number;

  @Setting({ description: 'How old a price may be to redeem at.', default: '600' })
  @Min(1)
  readonly redemptionPriceMaxAgeSeconds!: number;

  @Setting(PRICE_MIN_SETTING)
  readonly priceMinUsd?: Decimal;

  @Setting(PRICE_MAX_SETTING)
  @NotBelowMinimum()
  readonly priceMaxUsd?: Decimal;

  @Setting(PRICE_MAX_CHANGE_SETTING)
  readonly priceMaxChange!: Decimal;

  @Setting(PRICE_MAX_CHANGE_PER_HOUR_SETTING)
  readonly priceMaxChangePerHour!: Decimal;

  @Setting(PRICE_MAX_SPREAD_SETTING)
  readonly priceMaxSpread!: Decimal;

  @Setting({ description: 'The vault.', optional: true, parse: address })
  readonly vaultContract?: Address;

  @Setting(KEY)
  readonly voucherSignerKey?: string;

  @Setting(KEY)
  readonly vaultCancellerKey?: string;

  @Setting(KEY)
  readonly vaultPauserKey?: string;

  @Setting({ ...EVIDENCE_KEY_SETTING, optional: true })
  readonly evidenceKey?: string;

  @Setting({ description: 'Where users sign in.', optional: true, parse: commaList })
  readonly siweDomains?: string[];

  @Setting({ description: 'For development.', default: 'false' })
  readonly allowPrivatePartners!: boolean;

  @Setting({ description: 'For staging.', default: 'false' })
  readonly signatureDebugger!: boolean;

  @Setting(NODE_ENV_SETTING)
  readonly nodeEnv?: string;

  @Setting({ description: 'How long vouchers live.', default: '1800' })
  @Min(10)
  @Max(86_400)
  readonly voucherTtlSeconds!: number;
}

export interface ReadDoctorSettings {
  readonly settings: DoctorSettings;
  /** Variables whose value is not usable, and what is expected of it; they count as absent. */
  readonly faults: ReadonlyMap<string, string>;
  /** How many are given. */
  readonly given: number;
}

/** The settings that there are, without the wrong ones. */
export function readDoctorSettings(source: SettingsSource): ReadDoctorSettings {
  const given = settingsOf(DoctorSettings).filter(({ variable }) =>
    Boolean(source[variable] || source[`${variable}_FILE`]),
  ).length;
  try {
    return { settings: readSettings(DoctorSettings, source), faults: new Map(), given };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const { faults } = error;
    const wrong = [...faults.keys()].flatMap((variable) => [
      [variable, undefined] as const,
      [`${variable}_FILE`, undefined] as const,
    ]);
    const usable = { ...source, ...Object.fromEntries(wrong) };
    return { settings: readSettings(DoctorSettings, usable), faults, given };
  }
}
