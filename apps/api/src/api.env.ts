import {
  Constant,
  INDEX_MAX_LAG_SETTING,
  LISTEN_HOST_SETTING,
  MANAGEMENT_PORT_SETTING,
  NODE_ENV_SETTING,
  PRICE_MAX_AGE_SETTING,
  REDIS_URL_SETTING,
  REPLICAS_SETTING,
  SecretsSettings,
  Setting,
  TRUSTED_PROXIES_SETTING,
} from '#libs/config';

export class ApiSettings extends SecretsSettings {
  @Setting({ description: 'The port of the API.', default: '3000', min: 0, max: 65_535 })
  readonly apiPort!: number;

  @Setting(LISTEN_HOST_SETTING)
  readonly listenHost!: string;

  @Setting(MANAGEMENT_PORT_SETTING)
  readonly managementPort?: number;

  @Setting(INDEX_MAX_LAG_SETTING)
  readonly indexMaxLagSeconds!: number;

  @Setting(PRICE_MAX_AGE_SETTING)
  readonly priceMaxAgeSeconds?: number;

  @Setting(REDIS_URL_SETTING)
  readonly redisUrl?: string;

  @Setting(REPLICAS_SETTING)
  readonly replicas!: number;

  @Setting(TRUSTED_PROXIES_SETTING)
  readonly trustedProxies?: string[];

  @Setting({
    description:
      'For how many days requests of partners and their answers are kept, of a partner at most the newest 20,000. 0: none.',
    default: '7',
    min: 0,
    max: 365,
  })
  readonly requestLog!: number;

  /**
   * Memory for proofs of days whose lists are not stored any more: 180 bytes for each wallet, so that it is enough for
   * 1.4 million. 0 answers 410.
   */
  @Constant()
  readonly olderProofsMb: number = 256;

  @Setting(NODE_ENV_SETTING)
  readonly nodeEnv?: string;
}
