import { type RedisLink } from '#libs/cache';

/** What Redis says of itself, as far as it may. */
export interface RedisFacts {
  readonly version: string | undefined;
  readonly isCluster: boolean;
  /** What it does once it is full; undefined where it is not limited, or where that is not known. */
  readonly policy: string | undefined;
}

const OLDEST = [6, 2] as const;

/** Nothing is known where the user may not ask. */
export async function redisFacts(link: RedisLink): Promise<RedisFacts> {
  const text = await link.run((redis) => redis.info()).catch(() => '');
  const of = (name: string): string | undefined =>
    new RegExp(`^${name}:([\\w.-]{1,30})\\r?$`, 'm').exec(text)?.[1];
  const version = of('redis_version');
  const limited = (of('maxmemory') ?? '0') !== '0';
  return {
    version,
    isCluster: of('cluster_enabled') === '1',
    policy: limited ? of('maxmemory_policy') : undefined,
  };
}

/** @param version `7.2.4`; what cannot be read is not called old */
export function oldVersion(version: string): boolean {
  const [major = NaN, minor = NaN] = version.split('.').map(Number);
  return major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
}
