import { addressKey, type RateLimiter, type RatePolicy } from '#libs/cache';
import { type Address } from '#libs/domain';
import { UserError } from './user.error.js';

/** Signing in, per client address. */
const SIGN_IN: RatePolicy = { rate: 1, burst: 10 };
/** Tokens that turn out to be nobody's, per client address: guessing them cannot load the database. */
const GUESS: RatePolicy = { rate: 1, burst: 30 };
/** Whatever a wallet asks for. */
const WALLET: RatePolicy = { rate: 5, burst: 20 };
/** What calls the partner as well, per wallet. */
const POINTS: RatePolicy = { rate: 0.5, burst: 5 };

/** How fast users may go. All of these throw UserError 429. */
export class RequestLimits {
  constructor(private readonly limiter: RateLimiter) {}

  signIn(clientAddress: string): Promise<void> {
    return this.take(`sign-in:${addressKey(clientAddress)}`, SIGN_IN);
  }

  guess(clientAddress: string): Promise<void> {
    return this.take(`guess:${addressKey(clientAddress)}`, GUESS);
  }

  /** It was no guess. */
  async known(clientAddress: string): Promise<void> {
    await this.limiter.giveBack(`guess:${addressKey(clientAddress)}`, GUESS);
  }

  wallet(wallet: Address): Promise<void> {
    return this.take(`wallet:${wallet}`, WALLET);
  }

  points(wallet: Address): Promise<void> {
    return this.take(`points:${wallet}`, POINTS);
  }

  private async take(key: string, policy: RatePolicy): Promise<void> {
    const { allowed, retryAfterSeconds } = await this.limiter.take(key, policy);
    if (!allowed) throw UserError.tooManyRequests(retryAfterSeconds);
  }
}
