import { IsIn, MinLength } from 'class-validator';
import {
  INDEX_MAX_LAG_SETTING,
  MANAGEMENT_PORT_SETTING,
  NODE_ENV_SETTING,
  REDIS_URL_SETTING,
  SecretsSettings,
  Setting,
  SHUTDOWN_DELAY_SETTING,
  TRUSTED_PROXIES_SETTING,
} from '#libs/config';

export class ApiSettings extends SecretsSettings {
  @Setting({ description: 'The port of the API.', default: '3000', min: 0, max: 65_535 })
  readonly apiPort!: number;

  @Setting({ description: 'The address the API listens on.', default: '0.0.0.0' })
  readonly apiHost!: string;

  @Setting(MANAGEMENT_PORT_SETTING)
  readonly apiManagementPort?: number;

  @Setting(INDEX_MAX_LAG_SETTING)
  readonly indexMaxLagSeconds!: number;

  @Setting({
    description:
      'A price older than this is left out of answers; of several sources, one with an older price does not count.',
    default: '7200',
    min: 1,
  })
  readonly priceMaxAgeSeconds!: number;

  @Setting({
    description:
      'Signs answers to callers without a valid key. Random at each start where unset; set it where several replicas run.',
    secret: true,
    optional: true,
  })
  @MinLength(32)
  readonly apiAnonSecret?: string;

  @Setting(REDIS_URL_SETTING)
  readonly redisUrl?: string;

  @Setting({
    description:
      'How many replicas of the API run. Without Redis each admits the limits divided by this number.',
    default: '1',
    min: 1,
    max: 9999,
  })
  readonly apiReplicas!: number;

  @Setting(TRUSTED_PROXIES_SETTING)
  readonly trustedProxies?: string[];

  @Setting({
    description: 'Database connections held at most.',
    default: '8',
    min: 1,
    max: 200,
  })
  readonly apiPoolSize!: number;

  @Setting({
    description:
      'Whether requests of partners and their answers are kept, for the partner and the operator to look at: on or off.',
    default: 'on',
  })
  @IsIn(['on', 'off'])
  readonly requestLog!: string;

  @Setting({
    description: 'For how many days they are kept; of a partner no more than the newest 20,000.',
    default: '7',
    min: 1,
    max: 365,
  })
  readonly requestLogDays!: number;

  @Setting({
    description:
      'Megabytes for proofs of sealed days older than SEAL_KEPT_DAYS, whose trees are worked out again: 180 bytes a wallet while one is made. 0 answers 410.',
    default: '256',
    min: 0,
    max: 65_536,
  })
  readonly olderProofsMb!: number;

  @Setting(SHUTDOWN_DELAY_SETTING)
  readonly shutdownDelayMs!: number;

  @Setting(NODE_ENV_SETTING)
  readonly nodeEnv?: string;
}
