export { addressKey } from './limits/client-address.js';
export { MemoryRateLimiter } from './limits/memory-rate-limiter.js';
export { type RateLimiter, type RatePolicy, type RateVerdict } from './limits/rate-limiter.js';
export { RedisRateLimiter } from './limits/redis-rate-limiter.js';
export { RedisLink, type RedisLinkOptions } from './redis/redis-link.js';
export { RedisTexts } from './texts/redis-texts.js';
