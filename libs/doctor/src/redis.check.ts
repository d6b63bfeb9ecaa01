import { REDIS_COMMANDS, RedisLink } from '#libs/cache';
import { type Answer, check, ok, warning } from './checks.js';

const WAIT_MS = 2500;
const DEADLINE_MS = 2000;
/** Timeout of the services for one command; see libs/cache. */
const SERVICES_WAIT_MS = 50;
const QUESTIONS = 5;
const OLDEST = [6, 2] as const;

/**
 * Whether Redis executes every command of the services within their timeout. A link is up once it has tried all of
 * these commands.
 */
export const redisCheck = check({
  title: 'redis',
  needs: ['REDIS_URL'],
  ask: async ({ settings }) => {
    const url = settings.redisUrl ?? '';
    const where = new URL(url).host;
    let reason = `no answer within ${WAIT_MS / 1000} s`;
    const link = new RedisLink({
      url,
      deadlineMs: DEADLINE_MS,
      onChange: (isUp, why) => {
        if (!isUp) reason = why;
      },
    });
    try {
      const tookMs = (await link.whenUp(WAIT_MS)) ? await roundTripMs(link) : undefined;
      if (tookMs === undefined) return warning(`${where}: ${reason}`, remedyFor(reason));
      // Asked last: a user without the right to INFO may still have all other rights.
      return servingAnswer(where, tookMs, await readFacts(link));
    } finally {
      link.close();
    }
  },
});

/** Median round-trip time of a few commands in milliseconds; undefined where one of them fails. */
async function roundTripMs(link: RedisLink): Promise<number | undefined> {
  const took: number[] = [];
  for (let question = 0; question < QUESTIONS; question++) {
    const sentMs = performance.now();
    try {
      await link.run((redis) => redis.get('lowmark:doctor'));
    } catch {
      // The link has reported the reason through `onChange`.
      return undefined;
    }
    took.push(performance.now() - sentMs);
  }
  return took.sort((a, b) => a - b)[Math.floor(QUESTIONS / 2)];
}

/** The facts of INFO, as far as the user may read them. */
interface RedisFacts {
  readonly version: string | undefined;
  readonly isCluster: boolean;
  /** Eviction policy; undefined where the memory is not limited, or where it is unknown. */
  readonly policy: string | undefined;
}

/** Without the right to INFO all facts are unknown. */
async function readFacts(link: RedisLink): Promise<RedisFacts> {
  const text = await link.run((redis) => redis.info()).catch(() => '');
  const of = (name: string): string | undefined =>
    new RegExp(`^${name}:([\\w.-]{1,30})\\r?$`, 'm').exec(text)?.[1];
  const limited = (of('maxmemory') ?? '0') !== '0';
  return {
    version: of('redis_version'),
    isCluster: of('cluster_enabled') === '1',
    policy: limited ? of('maxmemory_policy') : undefined,
  };
}

function servingAnswer(where: string, tookMs: number, facts: RedisFacts): Answer {
  const { version, isCluster, policy } = facts;
  const name = version === undefined ? where : `${version} at ${where}`;
  if (version !== undefined && isOld(version)) {
    return warning(`${name} is too old`, 'Upgrade it to Redis 6.2 or newer.');
  }
  if (isCluster) {
    return warning(
      `${name} is a cluster`,
      'Use a single primary. See docs/operating/scaling.md#redis.',
    );
  }
  if (tookMs > SERVICES_WAIT_MS) {
    return warning(
      `${name} answers in ${Math.round(tookMs)} ms; services wait ${SERVICES_WAIT_MS} ms for it and then do without`,
      'Use one that is nearer, or look at its load (SLOWLOG) and at the network.',
    );
  }
  const whenFull = whenFullOf(policy);
  return whenFull === undefined
    ? ok(`${name} answers, and can be written`)
    : warning(
        `${name} ${whenFull} when its memory is full (maxmemory-policy ${policy})`,
        'Set maxmemory-policy to allkeys-lru.',
      );
}

/** @param version as in `7.2.4`; an unreadable version does not count as old */
function isOld(version: string): boolean {
  const [major = NaN, minor = NaN] = version.split('.').map(Number);
  return major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
}

/** The fault of an eviction policy, if any. The keys of limits expire soonest, and an evicted limit is not enforced. */
function whenFullOf(policy: string | undefined): string | undefined {
  if (policy === 'noeviction') return 'refuses writes';
  if (policy?.endsWith('-ttl')) return 'forgets limits first';
  return policy?.endsWith('-random') ? 'forgets limits like anything else' : undefined;
}

const RIGHTS = REDIS_COMMANDS.map((command) => `+${command}`).join(' ');
const WRONG_USER = 'Correct user and password in REDIS_URL';
const NO_CLUSTER = 'It is a cluster: use a single primary';
/** Remedies by the first word of Redis' error, or by all of them. */
const REMEDIES = new Map([
  ['WRONGPASS', WRONG_USER],
  ['NOAUTH', WRONG_USER],
  [
    'NOPERM',
    `Let an administrator of Redis run ACL SETUSER for the user of REDIS_URL with ~lowmark:* ${RIGHTS}`,
  ],
  ['READONLY', 'It is a replica: let REDIS_URL name the primary'],
  ['MASTERDOWN', 'It is a replica without its primary: let REDIS_URL name the primary'],
  ['LOADING', 'It loads its data: wait until it has'],
  ['NOREPLICAS', 'It has fewer replicas than its min-replicas-to-write: start them'],
  ['MISCONF', 'It cannot save to its disk: make room, or turn its persistence off'],
  ['OOM', 'Its memory is full: set maxmemory-policy to allkeys-lru, or give it more'],
  ['MOVED', NO_CLUSTER],
  ['CLUSTERDOWN', NO_CLUSTER],
  ['BUSY', 'It is busy with a script of another program: wait, or end that by SCRIPT KILL'],
  ['DENIED', 'It is in protected mode: give it a password, and REDIS_URL the same'],
  ['ERR max number of clients reached', 'It has no connections left: raise its maxclients'],
  ['ERR DB index is out of range', 'It has fewer databases: correct the number in REDIS_URL'],
  ['ERR SELECT is not allowed in cluster mode', NO_CLUSTER],
  ['ERR', 'It does not know what the services send: use Redis 6.2 or newer, a single primary'],
]);

function remedyFor(reason: string): string {
  const known = REMEDIES.get(reason) ?? REMEDIES.get(reason.replace(/ .*/, ''));
  const remedy = known ?? 'Start Redis, or correct REDIS_URL';
  return `${remedy}; until then every replica limits and caches by itself.`;
}
