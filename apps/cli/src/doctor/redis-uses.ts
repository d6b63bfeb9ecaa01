import { type RedisLink } from '#libs/cache';

/** Every command that the services send or call in a script, but those they can do without (`pcall`): what the user of REDIS_URL needs the right to. */
export const REDIS_COMMANDS = [
  ...['get', 'set', 'mget', 'eval', 'evalsha', 'time'],
  ...['hget', 'hset', 'pexpire', 'zadd', 'zcard', 'zremrangebyscore'],
] as const;

const KEYS = ['lowmark:doctor', 'lowmark:doctor:hash', 'lowmark:doctor:set'] as const;
const NOTHING_SUCH = '0'.repeat(40);

/** Each of them once, on keys of their own that are gone after a second. */
const SCRIPT = `
local time = redis.call('TIME')
redis.call('SET', KEYS[1], time[1], 'PX', 1000)
redis.call('GET', KEYS[1])
redis.call('HSET', KEYS[2], 'at', time[1])
redis.call('HGET', KEYS[2], 'at')
redis.call('PEXPIRE', KEYS[2], 1000)
redis.call('ZADD', KEYS[3], time[1], 'doctor')
redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', '(0')
redis.call('PEXPIRE', KEYS[3], 1000)
return redis.call('ZCARD', KEYS[3])
`;

/** @throws RedisUnavailableError where one of them is refused or late; the link tells why */
export async function useRedis(link: RedisLink): Promise<void> {
  await link.run((redis) => redis.set(KEYS[0], '1', 'PX', 1000));
  await link.run((redis) => redis.mget(KEYS[0]));
  await link.run(async (redis) => {
    try {
      await redis.evalsha(NOTHING_SUCH, 0);
    } catch (error) {
      // Allowed, and as it is where a script is new.
      if (!(error as Error).message.startsWith('NOSCRIPT')) throw error;
    }
  });
  await link.run((redis) => redis.eval(SCRIPT, KEYS.length, ...KEYS));
}
