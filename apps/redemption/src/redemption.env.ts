import { type VaultPlace } from '#libs/chain';
import {
  ALLOW_PRIVATE_PARTNERS_SETTING,
  CHAIN_ID_SETTING,
  Constant,
  EVIDENCE_KEY_SETTING,
  FINALITY_SETTING,
  LISTEN_HOST_SETTING,
  MANAGEMENT_PORT_SETTING,
  naturalBigInt,
  NODE_ENV_SETTING,
  PAYOUT_EXPIRY_MARGIN_SECONDS,
  PRICE_MAX_AGE_SETTING,
  REDIS_URL_SETTING,
  REPLICAS_SETTING,
  RPC_URLS_SETTING,
  Setting,
  SIWE_DOMAINS_SETTING,
  STAKE_SET_SETTING,
  TOKEN_CONTRACT_SETTING,
  TRUSTED_PROXIES_SETTING,
  VAULT_CANCELLER_KEY_SETTING,
  VAULT_CONTRACT_SETTING,
  VAULT_PAUSER_KEY_SETTING,
  VOUCHER_SIGNER_KEY_SETTING,
  VOUCHER_TTL_SETTING,
} from '#libs/config';
import { type Address, type Decimal } from '#libs/domain';
import { PRICE_BOUNDS_SETTING, type PriceBounds } from '#libs/price';
import { RegistrySettings } from './registry-publishing/registry.env.js';
import { coins, tokens } from './setting-values.js';

export class RedemptionSettings extends RegistrySettings {
  get vaultPlace(): VaultPlace {
    return { chainId: this.chainId, vault: this.vaultContract };
  }

  /** The contracts that the settings name: no wallet is one of them, and no payout goes to one. */
  get ownContracts(): readonly Address[] {
    const registries = this.registryAddress?.map(({ registry }) => registry) ?? [];
    return [this.vaultContract, this.tokenContract, ...registries];
  }

  @Setting(CHAIN_ID_SETTING)
  readonly chainId!: number;

  @Setting(RPC_URLS_SETTING)
  readonly rpcUrls!: string[];

  @Setting(FINALITY_SETTING)
  readonly finality!: string;

  /** Stake set whose token price is used for redemptions. */
  @Setting(STAKE_SET_SETTING)
  readonly stakeSet!: string;

  @Setting(TOKEN_CONTRACT_SETTING)
  readonly tokenContract!: Address;

  @Setting(VAULT_CONTRACT_SETTING)
  readonly vaultContract!: Address;

  @Setting({
    description: 'The block in which the vault was deployed; reconciliation begins there.',
    default: '0',
    parse: naturalBigInt,
  })
  readonly vaultStartBlock!: bigint;

  @Setting(VOUCHER_SIGNER_KEY_SETTING)
  readonly voucherSignerKey!: string;

  @Setting(EVIDENCE_KEY_SETTING)
  readonly evidenceKey!: string;

  @Setting(VAULT_CANCELLER_KEY_SETTING)
  readonly vaultCancellerKey?: string;

  @Setting(VAULT_PAUSER_KEY_SETTING)
  readonly vaultPauserKey?: string;

  /** In wei; the variable is in whole coins. */
  @Setting({
    description:
      "The most of the chain's coin that publications, cancellations and pauses can each cost on a UTC day, all processes together; one transaction half of it. Beyond it nothing is signed: publications wait, vouchers expire.",
    default: '0.1',
    parse: coins,
  })
  readonly gasDailyCoin!: bigint;

  /** Below 10 USD a cancelled redemption is not worth the gas of a cancellation: its voucher expires. */
  readonly vaultCancelMinUsd: Decimal = { digits: 10n, scale: 0 };

  @Setting(VOUCHER_TTL_SETTING)
  readonly voucherTtlSeconds!: number;

  @Constant()
  readonly payoutExpiryMarginSeconds: number = PAYOUT_EXPIRY_MARGIN_SECONDS;

  /** Between two looks at an open voucher: a player who has claimed waits for finality in any case. */
  @Constant()
  readonly payoutPollMs: number = 15_000;

  @Setting(PRICE_MAX_AGE_SETTING)
  readonly priceMaxAgeSeconds?: number;

  @Setting(PRICE_BOUNDS_SETTING)
  readonly priceBoundsUsd?: PriceBounds;

  @Setting({
    description:
      'Tokens that one wallet can redeem in a UTC day, with those of vouchers that it did not claim.',
    default: '1000',
    parse: tokens,
  })
  readonly walletDailyTokenBudget!: Decimal;

  /**
   * A wallet that did not claim a voucher waits before it redeems again, twice as long after each further one of seven
   * days: short after one mistake, and a day for a wallet that uses vouchers as options on
   * the price.
   */
  @Constant()
  readonly voucherCoolDownSeconds: number = 300;

  @Setting(SIWE_DOMAINS_SETTING)
  readonly siweDomains!: string[];

  @Setting(ALLOW_PRIVATE_PARTNERS_SETTING)
  readonly allowPrivatePartners!: boolean;

  @Setting({
    description:
      'A file outside the database with the newest transition of the ledger that the service has seen (docs/operating/backup.md). Put it on a volume that outlives the container and is not restored with the database; replicas may share it. Unset: a restart forgets it.',
    optional: true,
  })
  readonly ledgerMarkPath?: string;

  @Setting(NODE_ENV_SETTING)
  readonly nodeEnv?: string;

  @Setting({
    description: 'The port of the redemption service.',
    default: '3002',
    min: 0,
    max: 65_535,
  })
  readonly redemptionPort!: number;

  @Setting(LISTEN_HOST_SETTING)
  readonly listenHost!: string;

  @Setting(MANAGEMENT_PORT_SETTING)
  readonly managementPort?: number;

  @Setting(TRUSTED_PROXIES_SETTING)
  readonly trustedProxies?: string[];

  @Setting(REDIS_URL_SETTING)
  readonly redisUrl?: string;

  @Setting(REPLICAS_SETTING)
  readonly replicas!: number;
}
