import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { AttemptStore, NonceStore, SessionStore } from '#libs/db';
import { LowmarkError } from '#libs/domain';
import { CLOCK, type Clock, type Logger } from '#libs/platform';
import { inSpan } from '#libs/telemetry';
import { LOGGER } from '../redemption.tokens.js';

const INTERVAL_MS = 10 * 60_000;

/** Clears away nonces and sessions that have expired, and attempts that came to nothing. This is about space. */
@Injectable()
export class ExpirySweep {
  constructor(
    private readonly nonces: NonceStore,
    private readonly sessions: SessionStore,
    private readonly attempts: AttemptStore,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  @Interval(INTERVAL_MS)
  async sweep(): Promise<void> {
    const nowMs = this.clock.nowMs();
    try {
      await inSpan({ name: 'sweep expired sessions' }, async () => {
        await this.nonces.forgetExpired(nowMs);
        await this.sessions.forgetExpired(nowMs);
        await this.attempts.forgetOld(nowMs);
      });
    } catch (error) {
      if (!(error instanceof LowmarkError)) throw error;
      this.logger.warn(
        { err: error },
        'What has expired could not be cleared; the next sweep will',
      );
    }
  }
}
