import { createHash } from 'node:crypto';

/**
 * The arithmetic of `gcra.ts` where all replicas see it, on Redis' own clock so that they agree on the time. Many requests at
 * once, one after the other.
 *
 * Each of KEYS holds the time at which a bucket will be full again, Unix milliseconds. ARGV: the time, for tests, or an empty
 * text; then for each key rate, burst and what was admitted elsewhere and is owed too, in milliseconds. Returns what is owed
 * by each key now; where the request is refused, negative and less by one.
 */
export const TAKE = `
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + time[2] / 1000
end
local owed = {}
for place, key in ipairs(KEYS) do
  local per_request = 1000 / tonumber(ARGV[3 * place - 1])
  local capacity = per_request * tonumber(ARGV[3 * place])
  local carried = tonumber(ARGV[3 * place + 1])
  local debt = (tonumber(redis.call('GET', key)) or 0) - now
  if debt > capacity + 0.001 or debt < 0 then debt = 0 end
  if carried > 0 then debt = math.min(capacity, debt + carried) end
  local allowed = debt + per_request <= capacity + 0.001
  if allowed then debt = debt + per_request end
  if allowed or carried > 0 then
    redis.call('SET', key, string.format('%.17g', now + debt), 'PX', string.format('%.0f', debt + 10000))
  end
  owed[place] = string.format('%.17g', allowed and debt or -1 - debt)
end
return owed
`;

/** KEYS[1] as above; ARGV: rate. */
export const GIVE_BACK = `
local full_at = tonumber(redis.call('GET', KEYS[1]))
if full_at then
  redis.call('SET', KEYS[1], string.format('%.17g', full_at - 1000 / tonumber(ARGV[1])), 'KEEPTTL')
end
return '0'
`;

/** The name under which Redis keeps a script. */
export function sha1Of(script: string): string {
  return createHash('sha1').update(script).digest('hex');
}
