import { scriptOf } from '../redis/scripts.js';

/**
 * The arithmetic of `gcra.ts` where all replicas see it, on Redis' own clock so that they agree on the time. Many requests at
 * once, one after the other.
 *
 * KEYS[1] is what the replicas have agreed on with this Redis (`attend.lua.ts`); where there is nothing the answer is empty, and
 * nothing is counted. Each of the other KEYS holds the time at which a bucket will be full again, Unix milliseconds. ARGV: what
 * a request weighs; then for each key rate and burst. Returns what is owed by each key now; where the request is refused,
 * negative and less by one.
 */
export const TAKE = scriptOf(`
local lost = tonumber(redis.call('HGET', KEYS[1], 'lost'))
if not lost then return {} end
local owed = {}
for place = 1, #KEYS - 1 do
  local key = KEYS[place + 1]
  local full_request = 1000 / tonumber(ARGV[2 * place + 1])
  local burst = full_request * tonumber(ARGV[2 * place + 2])
  local per_request = full_request * tonumber(ARGV[2])
  local capacity = math.max(burst, per_request)
  local debt = (tonumber(redis.call('GET', key)) or 0) - now
  if debt > capacity + 1000 or debt < 0 then debt = 0 end
  debt = math.min(debt, capacity)
  if lost > 0 then debt = math.max(debt, math.min(burst, lost + burst - now)) end
  local allowed = debt + per_request <= capacity + 0.001
  if allowed then
    debt = debt + per_request
    redis.call('SET', key, string.format('%.17g', now + debt), 'PX', string.format('%.0f', debt + 10000))
  end
  owed[place] = string.format('%.17g', allowed and debt or -1 - debt)
end
return owed
`);

/** KEYS[1] is that of a bucket. ARGV: rate. */
export const GIVE_BACK = scriptOf(`
local full_at = tonumber(redis.call('GET', KEYS[1]))
if full_at then
  redis.call('SET', KEYS[1], string.format('%.17g', full_at - 1000 / tonumber(ARGV[2])), 'KEEPTTL')
end
return '0'
`);

/**
 * Moves debts to the accounts here, each as far as it fits below a whole burst. KEYS as for TAKE. ARGV: for each key a whole
 * burst and the debt, in milliseconds. Returns how much of each was moved.
 */
export const SETTLE = scriptOf(`
local lost = tonumber(redis.call('HGET', KEYS[1], 'lost'))
if not lost then return {} end
local moved = {}
for place = 1, #KEYS - 1 do
  local key = KEYS[place + 1]
  local burst = tonumber(ARGV[2 * place])
  local debt = (tonumber(redis.call('GET', key)) or 0) - now
  if debt < 0 then debt = 0 end
  if lost > 0 then debt = math.max(debt, math.min(burst, lost + burst - now)) end
  local fits = math.min(tonumber(ARGV[2 * place + 1]), math.max(0, burst - debt))
  if fits > 0 then
    debt = debt + fits
    redis.call('SET', key, string.format('%.17g', now + debt), 'PX', string.format('%.0f', debt + 10000))
  end
  moved[place] = string.format('%.17g', fits)
end
return moved
`);
