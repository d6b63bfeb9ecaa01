import { REDIS_COMMANDS, RedisLink } from '#libs/cache';
import { type Check } from '../check.js';
import { type Finding, ok, warning } from '../finding.js';
import { oldVersion, redisFacts, type RedisFacts } from '../redis-facts.js';

const NAME = 'redis';
const WAIT_MS = 2500;
const DEADLINE_MS = 2000;
/** How long the services wait for one command; see libs/cache. */
const SERVICES_WAIT_MS = 50;
const LOOKS = 5;
const RIGHTS = REDIS_COMMANDS.map((command) => `+${command}`).join(' ');
const ALONE = 'until then every replica limits and caches by itself.';

/** Whether Redis does all that the services ask of it, in their time: their link is up once all of it was tried. */
export const redisCheck: Check = {
  name: NAME,
  needs: ['REDIS_URL'],
  async *look({ settings }) {
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
      if (tookMs === undefined) {
        yield warning(NAME, `${where}: ${reason}`, mendOf(reason));
        return;
      }
      // Last, as a user without the right to it may still do everything else.
      yield servingFinding(where, tookMs, await redisFacts(link));
    } finally {
      link.close();
    }
  },
};

/** The middle one of some questions; undefined where one was not answered. */
async function roundTripMs(link: RedisLink): Promise<number | undefined> {
  const took: number[] = [];
  for (let look = 0; look < LOOKS; look++) {
    const sentMs = performance.now();
    try {
      await link.run((redis) => redis.get('lowmark:doctor'));
    } catch {
      // The link has told why.
      return undefined;
    }
    took.push(performance.now() - sentMs);
  }
  return took.sort((a, b) => a - b)[Math.floor(LOOKS / 2)];
}

function servingFinding(where: string, tookMs: number, facts: RedisFacts): Finding {
  const { version, isCluster, policy } = facts;
  const name = version === undefined ? where : `${version} at ${where}`;
  if (version !== undefined && oldVersion(version)) {
    return warning(NAME, `${name} is too old`, 'Upgrade it to Redis 6.2 or newer.');
  }
  if (isCluster) {
    return warning(
      NAME,
      `${name} is a cluster`,
      'Use a single primary. See docs/operating/redis.md.',
    );
  }
  if (tookMs > SERVICES_WAIT_MS) {
    return warning(
      NAME,
      `${name} answers in ${Math.round(tookMs)} ms; services wait ${SERVICES_WAIT_MS} ms for it and then do without`,
      'Use one that is nearer, or look at its load (SLOWLOG) and at the network.',
    );
  }
  const whenFull = whenFullOf(policy);
  if (whenFull !== undefined) {
    return warning(
      NAME,
      `${name} ${whenFull} when its memory is full (maxmemory-policy ${policy})`,
      'Set maxmemory-policy to allkeys-lru.',
    );
  }
  return ok(NAME, `${name} answers, and can be written`);
}

/** What is wrong with it; limits are the keys that expire soonest, and no limit holds that is forgotten. */
function whenFullOf(policy: string | undefined): string | undefined {
  if (policy === 'noeviction') return 'refuses writes';
  if (policy?.endsWith('-ttl')) return 'forgets limits first';
  return policy?.endsWith('-random') ? 'forgets limits like anything else' : undefined;
}

function mendOf(reason: string): string {
  switch (reason.replace(/ .*/, '')) {
    case 'WRONGPASS':
    case 'NOAUTH':
      return `Correct user and password in REDIS_URL; ${ALONE}`;
    case 'NOPERM':
      return `Let an administrator of Redis run ACL SETUSER for the user of REDIS_URL with ~lowmark:* ${RIGHTS}; ${ALONE}`;
    case 'READONLY':
      return `It is a replica: let REDIS_URL name the primary; ${ALONE}`;
    case 'OOM':
      return `Its memory is full: set maxmemory-policy to allkeys-lru, or give it more; ${ALONE}`;
    case 'ERR':
      return `It does not know what the services send: use Redis 6.2 or newer, a single primary; ${ALONE}`;
    default:
      return `Start Redis, or correct REDIS_URL; ${ALONE}`;
  }
}
