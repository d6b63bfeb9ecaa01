import { LOG_LEVELS, type LogLevel } from '#libs/platform';
import { base64Key, commaList, oneOf, url } from './parsers.js';
import { Setting, type SettingOptions } from './setting.js';

/** What every program that talks to the database reads. */
export class DatabaseSettings {
  @Setting({
    description:
      'PostgreSQL 15 or newer. sslmode and sslrootcert in the URL mean what they mean to psql.',
    secret: true,
    example: 'postgresql://lowmark:password@127.0.0.1:5432/lowmark?sslmode=disable',
    parse: url('postgresql', 'postgres'),
  })
  readonly databaseUrl!: string;
}

/** What every service reads. */
export class ServiceSettings extends DatabaseSettings {
  @Setting({
    description: `How much is logged: ${LOG_LEVELS.join(', ')}.`,
    default: 'info',
    parse: oneOf(LOG_LEVELS),
  })
  readonly logLevel!: LogLevel;
}

/** Of services that answer requests; see `HttpShutdown`. */
export const REDIS_URL_SETTING: SettingOptions = {
  description:
    'Redis shared by all replicas of a service, for limits and, of the API, cached parts: redis:// or rediss://, in production with a password. Unset: each replica limits and caches by itself.',
  secret: true,
  optional: true,
  example: 'redis://:password@127.0.0.1:6379',
  parse: url('redis', 'rediss'),
};

export const SHUTDOWN_DELAY_SETTING: SettingOptions = {
  description:
    'At SIGTERM: how long the service goes on serving while it already says that it is not ready, so that load balancers notice.',
  default: '0',
};

/** Where health and metrics are served; see `ManagementModule`. */
export const MANAGEMENT_PORT_SETTING: SettingOptions = {
  description:
    'The port of /health and /metrics, which are then served there and nowhere else: not for callers. Unset: they are at the service’s own port.',
  optional: true,
};

/** SECRETS_KEY, for classes that cannot extend SecretsSettings. */
export const SECRETS_KEY_SETTING: SettingOptions = {
  description:
    '32 bytes in base64 that encrypt partner secrets at rest: openssl rand -base64 32. Several, separated by commas: the first encrypts, each decrypts what it encrypted.',
  secret: true,
  parse: (text) => {
    commaList(text).forEach(base64Key(32));
    return text;
  },
};

/** EVIDENCE_KEY, of the redemption service and of the command that adopts rows of before. */
export const EVIDENCE_KEY_SETTING: SettingOptions = {
  description:
    '32 bytes in base64 that only the redemption service has: openssl rand -base64 32. It makes the MAC of each redemption’s row, without which nothing is paid. Several, separated by commas: the first makes MACs, each verifies those that it made. Of the commands only `redemption adopt` needs it.',
  secret: true,
  parse: (text) => {
    commaList(text).forEach(base64Key(32));
    return text;
  },
};

/** What a service reads that seals or opens partner secrets. */
export class SecretsSettings extends ServiceSettings {
  @Setting(SECRETS_KEY_SETTING)
  readonly secretsKey!: string;
}
