import { IsIn, Max, Min, MinLength } from 'class-validator';
import {
  MANAGEMENT_PORT_SETTING,
  NODE_ENV_SETTING,
  REDIS_URL_SETTING,
  REPLICAS_AT_MOST_SETTING,
  SecretsSettings,
  Setting,
  SHUTDOWN_DELAY_SETTING,
  trustedProxies,
  urlList,
} from '#libs/config';

/** The settings of the API. */
export class ApiSettings extends SecretsSettings {
  @Setting({ description: 'The port of the API.', default: '3000' })
  @Min(0)
  @Max(65_535)
  readonly apiPort!: number;

  @Setting({ description: 'The address the API listens on.', default: '0.0.0.0' })
  readonly apiHost!: string;

  @Setting(MANAGEMENT_PORT_SETTING)
  @Min(0)
  @Max(65_535)
  readonly apiManagementPort?: number;

  @Setting({
    description:
      'Snapshots are served only while the index is at most this far behind the clock, or past the end of the window asked for.',
    default: '120',
  })
  @Min(1)
  readonly indexMaxLagSeconds!: number;

  @Setting({
    description:
      'A price older than this is left out of answers; of several sources, one with an older price does not count.',
    default: '7200',
  })
  @Min(1)
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

  @Setting(REPLICAS_AT_MOST_SETTING)
  readonly replicasAtMost?: number;

  @Setting({
    description:
      'Proxies in front of the service whose X-Forwarded-For is believed, separated by commas: addresses, ranges such as 10.0.0.0/8, loopback, linklocal, uniquelocal. Unset: none.',
    optional: true,
    parse: trustedProxies,
  })
  readonly trustedProxies?: string[];

  @Setting({
    description:
      'Standbys of the database that snapshots are read from, separated by commas; the primary takes over from one that fails or lags. Unset: the primary alone.',
    secret: true,
    optional: true,
    example: 'postgresql://lowmark_api:password@127.0.0.1:5433/lowmark?sslmode=disable',
    parse: urlList('postgresql', 'postgres'),
  })
  readonly databaseReadUrls?: string[];

  @Setting({
    description:
      'How far behind the primary a standby may be for an answer to be read from it: no answer is older than its request by more.',
    default: '2',
  })
  @Min(1)
  @Max(60)
  readonly readMaxLagSeconds!: number;

  @Setting({
    description: 'Database connections held at most, on each server.',
    default: '8',
  })
  @Min(1)
  @Max(200)
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
  })
  @Min(1)
  @Max(365)
  readonly requestLogDays!: number;

  @Setting(SHUTDOWN_DELAY_SETTING)
  @Min(0)
  @Max(120_000)
  readonly shutdownDelayMs!: number;

  @Setting({
    description:
      'Staging only: POST /api/debug/signature tells a partner what is signed and where its own signature differs. Refused where NODE_ENV is production.',
    default: 'false',
  })
  readonly signatureDebugger!: boolean;

  @Setting(NODE_ENV_SETTING)
  readonly nodeEnv?: string;
}
