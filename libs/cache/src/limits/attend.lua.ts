import { scriptOf } from '../redis/scripts.js';

/**
 * A replica says that it is here, and the replicas agree on what this Redis knows. KEYS[1]: a hash with `run`, the run of the
 * server, and `lost`, when it is known to have forgotten something, Unix milliseconds, or 0. KEYS[2]: the replicas by when they
 * were last here. ARGV: the replica, how long it counts as here in milliseconds, and how many replicas live where this one never
 * had a Redis and waits for the others, else 0. Returns how many are here, or 0 for a replica that has to wait.
 *
 * A server that was started anew, or promoted, may have forgotten all or only the latest: both are taken for a loss. Whoever
 * sees `lost` takes each bucket for empty at that time, whatever is kept of it. Nothing is lost of an empty server where all who
 * live are new.
 */
export const ATTEND = scriptOf(`
-- Where that may not be asked a loss of the latest alone goes unnoticed.
local info = redis.pcall('INFO', 'server')
local run = type(info) == 'string' and string.match(info, 'run_id:(%w+)') or ''
local lost = tonumber(redis.call('HGET', KEYS[1], 'lost'))
local before = redis.call('HGET', KEYS[1], 'run')
local changed = not lost or before ~= run
redis.call('ZADD', KEYS[2], now, ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', string.format('(%.17g', now - tonumber(ARGV[3])))
redis.call('PEXPIRE', KEYS[2], 86400000)
local here = redis.call('ZCARD', KEYS[2])
if changed then
  local living = tonumber(ARGV[4])
  if not lost and here < living then return 0 end
  lost = not lost and living > 0 and 0 or now
end
-- The clock was set back: nobody must wait until it is there again.
if lost > now then lost, changed = now, true end
if changed then
  redis.call('HSET', KEYS[1], 'lost', string.format('%.17g', lost), 'run', run)
end
redis.call('PEXPIRE', KEYS[1], 86400000)
return here
`);
