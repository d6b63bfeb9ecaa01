import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import {
  ConformanceRunStore,
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
 * Deletes expired sessions, sign-in attempts, nonces and links, limits that are not in use, and old conformance runs,
 * every ten minutes. Except the runs, all are of no effect from their expiry on.
 */
@Injectable()
export class ForgetExpired {
  constructor(
    private readonly sessions: ConsoleSessionStore,
    private readonly attempts: LoginAttemptStore,
    private readonly nonces: NonceStore,
    private readonly links: SignInLinkStore,
    private readonly limits: MemberLimitStore,
    private readonly runs: ConformanceRunStore,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Interval('forget-expired', TEN_MINUTES_MS)
  async forget(): Promise<void> {
    const nowMs = this.clock.nowMs();
    try {
      const { sessions, attempts, nonces, links, limits, runs } = this;
      for (const store of [sessions, attempts, nonces, links, limits, runs]) {
        await store.forgetExpired(nowMs);
      }
    } catch (error) {
      // The next run tries again.
      if (!(error instanceof RetryableError)) throw error;
    }
  }
}
