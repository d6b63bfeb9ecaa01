export { createSharing, type Sharing } from './create-sharing.js';
export {
  addressKey,
  MemoryRateLimiter,
  type RateLimiter,
  type RatePolicy,
  type RateVerdict,
  siteKey,
} from './limits/rate-limiter.js';
export { REDIS_COMMANDS } from './redis/redis-uses.js';
export { RedisLink } from './redis/redis-link.js';
export { RedisTexts } from './texts/redis-texts.js';
