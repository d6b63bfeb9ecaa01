export { createSharing, type Sharing } from './create-sharing.js';
export {
  addressKey,
  MemoryRateLimiter,
  type RateLimiter,
  type RatePolicy,
  type RateVerdict,
  siteKey,
} from './rate-limiter.js';
export { REDIS_COMMANDS } from './redis-uses.js';
export { RedisLink } from './redis-link.js';
export { RedisTexts } from './redis-texts.js';
