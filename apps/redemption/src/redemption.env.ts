import { type VaultPlace } from '#libs/chain';
import {
  ALLOW_PRIVATE_PARTNERS_SETTING,
  CHAIN_ID_SETTING,
  EVIDENCE_KEY_SETTING,
  FINALITY_SETTING,
  MANAGEMENT_PORT_SETTING,
  naturalBigInt,
  NODE_ENV_SETTING,
  PAYOUT_EXPIRY_MARGIN_SETTING,
  REDEMPTION_PRICE_MAX_AGE_SETTING,
  REDIS_URL_SETTING,
  RPC_URLS_SETTING,
  Setting,
  SHUTDOWN_DELAY_SETTING,
  SIWE_DOMAINS_SETTING,
  STAKE_SET_SETTING,
  TOKEN_CONTRACT_SETTING,
  TOKEN_DECIMALS_SETTING,
  TRUSTED_PROXIES_SETTING,
  VAULT_CANCELLER_KEY_SETTING,
  VAULT_CONTRACT_SETTING,
  VAULT_PAUSER_KEY_SETTING,
  VOUCHER_SIGNER_KEY_SETTING,
  VOUCHER_TTL_SETTING,
} from '#libs/config';
import { type Address, type Decimal } from '#libs/domain';
import { NotBelowMinimum, PRICE_MAX_SETTING, PRICE_MIN_SETTING } from '#libs/price';
import { RegistrySettings } from './registry-publishing/registry.env.js';
import { smallestUnits, tokens } from './setting-values.js';

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

  @Setting(TOKEN_DECIMALS_SETTING)
  readonly tokenDecimals?: number;

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

  /** In wei; the variable is in gwei. */
  @Setting({
    description:
      'The highest price of gas, in gwei, at which a cancellation or a pause is signed, whatever a node says.',
    default: '500',
    parse: smallestUnits(9),
  })
  readonly vaultMaxGasPriceGwei!: bigint;

  @Setting({
    description:
      'The most gas that a cancellation or a pause is signed with. Some rollups count what they pay to their parent chain as gas.',
    default: '1000000',
    min: 21_000,
    max: 1_000_000_000,
  })
  readonly vaultMaxGas!: number;

  /** In wei; the variable is in whole coins. */
  @Setting({
    description:
      "The most of the chain's coin that cancellations can cost on a UTC day, all processes together, and pauses as much again. What is beyond it is not signed: vouchers expire.",
    default: '0.1',
    parse: smallestUnits(18),
  })
  readonly vaultDailyCoin!: bigint;

  @Setting({
    description:
      'A cancelled redemption worth less than so many USD is not cancelled on chain: its voucher expires, and the points go back then.',
    default: '10',
    parse: tokens,
  })
  readonly vaultCancelMinUsd!: Decimal;

  @Setting(VOUCHER_TTL_SETTING)
  readonly voucherTtlSeconds!: number;

  @Setting(PAYOUT_EXPIRY_MARGIN_SETTING)
  readonly payoutExpiryMarginSeconds!: number;

  @Setting({
    description: 'How often the chain is asked what became of vouchers that are still open.',
    default: '15000',
    min: 50,
    max: 600_000,
  })
  readonly payoutPollMs!: number;

  @Setting({
    description: 'A redemption that has not been started by then fails; its price is too old.',
    default: '120',
    min: 1,
    max: 3600,
  })
  readonly quoteTtlSeconds!: number;

  @Setting(REDEMPTION_PRICE_MAX_AGE_SETTING)
  readonly redemptionPriceMaxAgeSeconds!: number;

  @Setting(PRICE_MIN_SETTING)
  readonly priceMinUsd?: Decimal;

  @Setting(PRICE_MAX_SETTING)
  @NotBelowMinimum()
  readonly priceMaxUsd?: Decimal;

  @Setting({
    description:
      'Tokens that one wallet can redeem in a UTC day. A voucher that was not claimed counts as well.',
    default: '1000',
    parse: tokens,
  })
  readonly walletDailyTokenBudget!: Decimal;

  @Setting({
    description:
      'How long a wallet waits before it can redeem again after a voucher that it did not claim; twice as long after each further one of the last seven days. 0: not at all.',
    default: '300',
    min: 0,
    max: 86_400,
  })
  readonly voucherCoolDownSeconds!: number;

  @Setting({
    description: 'The longest that a wallet waits for that.',
    default: '86400',
    min: 0,
    max: 604_800,
  })
  readonly voucherCoolDownMaxSeconds!: number;

  @Setting(SIWE_DOMAINS_SETTING)
  readonly siweDomains!: string[];

  @Setting({
    description: 'How long a user stays signed in.',
    default: '86400',
    min: 60,
    max: 2_592_000,
  })
  readonly sessionTtlSeconds!: number;

  @Setting(ALLOW_PRIVATE_PARTNERS_SETTING)
  readonly allowPrivatePartners!: boolean;

  @Setting({
    description:
      'A file outside of the database with the newest transition that the service has seen in the ledger. With it, the service notices after a restart that the ledger went back in time. Put it on a volume that outlives the container and is not restored with the database; replicas may share it. Absent: a restart forgets the transition.',
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

  @Setting({ description: 'The address the redemption service listens on.', default: '0.0.0.0' })
  readonly redemptionHost!: string;

  @Setting(MANAGEMENT_PORT_SETTING)
  readonly redemptionManagementPort?: number;

  @Setting(SHUTDOWN_DELAY_SETTING)
  readonly shutdownDelayMs!: number;

  @Setting(TRUSTED_PROXIES_SETTING)
  readonly trustedProxies?: string[];

  @Setting(REDIS_URL_SETTING)
  readonly redisUrl?: string;

  @Setting({
    description:
      'How many replicas of the redemption service run. Without Redis each admits the limits divided by this number.',
    default: '1',
    min: 1,
    max: 9999,
  })
  readonly redemptionReplicas!: number;

  @Setting({ description: 'Database connections held at most.', default: '8', min: 2, max: 200 })
  readonly redemptionPoolSize!: number;

  @Setting({
    description: 'Redemptions that one process works at at the same time.',
    default: '32',
    min: 1,
    max: 500,
  })
  readonly redemptionsAtOnce!: number;

  @Setting({
    description: 'Events of webhooks that one process sends at the same time.',
    default: '32',
    min: 1,
    max: 500,
  })
  readonly webhooksAtOnce!: number;

  @Setting({
    description:
      'For how many days events of webhooks are kept that were delivered or given up, and those that wait while a webhook is paused.',
    default: '30',
    min: 4,
    max: 3650,
  })
  readonly webhookKeptDays!: number;
}
