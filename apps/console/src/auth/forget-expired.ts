import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import {
  ConsoleSessionStore,
  LoginAttemptStore,
  MemberLimitStore,
  NonceStore,
  SignInLinkStore,
} from '#libs/db';
import { RetryableError } from '#libs/domain';
import { CLOCK, type Clock } from '#libs/platform';

const TEN_MINUTES_MS = 600_000;

/**
 * Deletes expired sessions, sign-in attempts, nonces and links, and limits that are not in use, every ten minutes. All
 * are of no effect from their expiry on.
 */
@Injectable()
export class ForgetExpired {
  constructor(
    private readonly sessions: ConsoleSessionStore,
    private readonly attempts: LoginAttemptStore,
    private readonly nonces: NonceStore,
    private readonly links: SignInLinkStore,
    private readonly limits: MemberLimitStore,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Interval('forget-expired', TEN_MINUTES_MS)
  async forget(): Promise<void> {
    const nowMs = this.clock.nowMs();
    try {
      for (const store of [this.sessions, this.attempts, this.nonces, this.links, this.limits]) {
        await store.forgetExpired(nowMs);
      }
    } catch (error) {
      // The next run tries again.
      if (!(error instanceof RetryableError)) throw error;
    }
  }
}
