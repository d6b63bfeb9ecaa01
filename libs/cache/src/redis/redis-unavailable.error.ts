import { RetryableError } from '#libs/domain';

/** Redis is down, late or refuses: what is asked of it must be had in another way. */
export class RedisUnavailableError extends RetryableError {
  /** @param reason for people, without secrets */
  constructor(reason: string) {
    super('REDIS_UNAVAILABLE', `Redis cannot be used: ${reason}`);
  }
}
