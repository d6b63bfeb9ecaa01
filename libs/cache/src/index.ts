export { addressKey } from './limits/client-address.js';
export { MemoryRateLimiter } from './limits/memory-rate-limiter.js';
export { type RateLimiter, type RatePolicy, type RateVerdict } from './limits/rate-limiter.js';
