import { type Redis } from 'ioredis';

/** The commands that the services send or call in scripts: the user of REDIS_URL needs the right to each. */
export const REDIS_COMMANDS = ['get', 'set', 'mget', 'eval', 'evalsha', 'time'] as const;

const PROBE = 'lowmark:probe';
const NOTHING_SUCH = '0'.repeat(40);

/** Calls each command of the scripts once, on a key that expires after a second. */
const SCRIPT = `
local uses = {
  {'TIME'},
  {'SET', KEYS[1], '1', 'PX', 1000},
  {'GET', KEYS[1]},
  {'MGET', KEYS[1]},
}
for _, use in ipairs(uses) do
  local reply = redis.pcall(unpack(use))
  if type(reply) == 'table' and reply.err then
    -- Up to Redis 7.0 a script is not told what it may not call.
    if string.find(reply.err, "can't run", 1, true) then
      return redis.error_reply("NOPERM no permissions to run the '" .. string.lower(use[1]) .. "' command")
    end
    return reply
  end
end
return 'OK'
`;

/**
 * Tries every command in use. A plain read or ping is not enough: the user may lack a right, and a replica, a full or a
 * loading server may still answer reads or pings.
 * @throws the error of the first command that Redis refuses
 */
export async function probeCommands(redis: Redis): Promise<void> {
  await Promise.all([
    redis.eval(SCRIPT, 1, PROBE),
    redis.evalsha(NOTHING_SUCH, 0).catch((error: unknown) => {
      // NOSCRIPT means that EVALSHA is allowed: Redis knows no script of this name.
      if (!(error as Error).message.startsWith('NOSCRIPT')) throw error;
    }),
  ]);
}
