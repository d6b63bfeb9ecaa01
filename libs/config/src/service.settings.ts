/** Settings that the services share. */
import { BlockList, isIP } from 'node:net';
import { PermanentError } from '#libs/domain';
import { DatabaseUrl, LOG_LEVELS, type LogLevel } from '#libs/platform';
import { base64Keys, commaList, oneOf, Setting, type SettingOptions, url } from './setting.js';

export function databaseUrl(text: string): string {
  DatabaseUrl.parse(text);
  return text;
}

export const DATABASE_DIRECT_URL_SETTING: SettingOptions = {
  description:
    'If DATABASE_URL is a pooler’s that gives each transaction another session (PgBouncer with pool_mode=transaction): the same database without the pooler. Unset: DATABASE_URL leads to PostgreSQL itself.',
  secret: true,
  optional: true,
  example: 'postgresql://lowmark:password@127.0.0.1:5432/lowmark?sslmode=disable',
  parse: databaseUrl,
};

export class DatabaseSettings {
  @Setting({
    description:
      'PostgreSQL 15 or newer, the primary, on one host. sslmode and sslrootcert are as for psql.',
    secret: true,
    example: 'postgresql://lowmark:password@127.0.0.1:5432/lowmark?sslmode=disable',
    parse: databaseUrl,
  })
  readonly databaseUrl!: string;

  @Setting(DATABASE_DIRECT_URL_SETTING)
  readonly databaseDirectUrl?: string;
}

interface DatabaseUrls {
  readonly databaseUrl?: string | undefined;
  readonly databaseDirectUrl?: string | undefined;
}

/** A URL whose sessions last as long as their connections: for locks, LISTEN, migrations and commands. */
export function sessionUrl(settings: DatabaseUrls & { readonly databaseUrl: string }): string;
export function sessionUrl(settings: DatabaseUrls): string | undefined;
export function sessionUrl({ databaseUrl, databaseDirectUrl }: DatabaseUrls): string | undefined {
  return databaseDirectUrl ?? databaseUrl;
}

export class ServiceSettings extends DatabaseSettings {
  @Setting({
    description: `How much is logged: ${LOG_LEVELS.join(', ')}.`,
    default: 'info',
    parse: oneOf(LOG_LEVELS),
  })
  readonly logLevel!: LogLevel;
}

/** INDEX_MAX_LAG_SECONDS, which is also the limit for the readiness of the indexer. */
export const INDEX_MAX_LAG_SETTING: SettingOptions = {
  description:
    'Snapshots are served only while the index is at most this far behind the clock, or past the end of the window asked for.',
  default: '120',
  min: 1,
};

/** @throws Error that never repeats the text, which contains a password */
function redisUrl(text: string): string {
  const { username, password } = new URL(url('redis', 'rediss')(text));
  try {
    decodeURIComponent(username + password);
  } catch {
    throw new Error('must be a URL; in user and password % is written as %25');
  }
  return text;
}

/** REDIS_URL, of services that share limits or caches among their replicas. */
export const REDIS_URL_SETTING: SettingOptions = {
  description:
    'Redis shared by all replicas of a service, for limits and the API’s cache: redis:// or rediss://, in production with a password. Unset: each replica limits and caches by itself.',
  secret: true,
  optional: true,
  example: 'redis://:password@127.0.0.1:6379',
  parse: redisUrl,
};

/** TRUSTED_PROXIES, of services that limit by client address. */
export const TRUSTED_PROXIES_SETTING: SettingOptions = {
  description:
    'Proxies in front of the service whose X-Forwarded-For is believed, separated by commas: addresses, ranges such as 10.0.0.0/8, loopback, linklocal, uniquelocal. Unset: none.',
  optional: true,
  parse: trustedProxies,
};

export const REPLICAS_SETTING: SettingOptions = {
  description:
    'How many replicas of this service run. Without Redis each admits the limits divided by this number.',
  default: '1',
  min: 1,
  max: 9999,
};

/** LISTEN_HOST, a setting because containers need all addresses, and a machine with other users only its own. */
export const LISTEN_HOST_SETTING: SettingOptions = {
  description: 'The address to listen on. 127.0.0.1: this machine only.',
  default: '0.0.0.0',
};

/**
 * MANAGEMENT_PORT, of health and metrics; see `ManagementModule`. A setting because containers have a port to spare, and
 * services that share a machine have not.
 */
export const MANAGEMENT_PORT_SETTING: SettingOptions = {
  description: 'The port of /health and /metrics, not for callers. Unset: the service’s own port.',
  optional: true,
  min: 0,
  max: 65_535,
};

/** SECRETS_KEY, for classes that cannot extend SecretsSettings. */
export const SECRETS_KEY_SETTING: SettingOptions = {
  description:
    '32 bytes in base64 that encrypt partner secrets at rest: openssl rand -base64 32. Several, separated by commas: the first encrypts, each decrypts what it encrypted.',
  secret: true,
  parse: base64Keys(32),
};

/** EVIDENCE_KEY, of the redemption service, and of commands and pages that write the MACs of redemptions. */
export const EVIDENCE_KEY_SETTING: SettingOptions = {
  description:
    '32 bytes in base64 that only the redemption service has: openssl rand -base64 32. It makes the MAC of each redemption’s row, without which nothing is paid. Several, separated by commas: the first makes MACs, each verifies its own. `redemption adopt` and `redemption set-partner-tx` need it, and the console for the same.',
  secret: true,
  parse: base64Keys(32),
};

/** Settings of a service that encrypts or decrypts partner secrets. */
export class SecretsSettings extends ServiceSettings {
  @Setting(SECRETS_KEY_SETTING)
  readonly secretsKey!: string;
}

/**
 * Refuses a shared key, because the api has SECRETS_KEY and must not be able to make a MAC of the redemption service.
 * @throws PermanentError EVIDENCE_KEY_SHARED; the message contains no key
 */
export function refuseSharedEvidenceKey(evidenceKey: string, secretsKey: string): void {
  const secrets = commaList(secretsKey);
  if (!commaList(evidenceKey).some((key) => secrets.includes(key))) return;
  throw new PermanentError(
    'EVIDENCE_KEY_SHARED',
    'EVIDENCE_KEY is one of SECRETS_KEY, which the api has as well: make one of its own, openssl rand -base64 32.',
  );
}

const NAMED_RANGES = ['loopback', 'linklocal', 'uniquelocal'];

/** Parser of TRUSTED_PROXIES: the proxies whose X-Forwarded-For is believed. */
function trustedProxies(text: string): string[] {
  const parts = commaList(text);
  if (!parts.every((part) => NAMED_RANGES.includes(part) || isRange(part))) {
    throw new Error(
      `must be a list of addresses, of ranges such as 10.0.0.0/8, or of ${NAMED_RANGES.join(', ')}`,
    );
  }
  return parts;
}

function isRange(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  if (prefix === undefined) return true;
  if (!/^\d{1,3}$/.test(prefix)) return false;
  try {
    new BlockList().addSubnet(address, Number(prefix), version === 6 ? 'ipv6' : 'ipv4');
    return true;
  } catch {
    return false;
  }
}
