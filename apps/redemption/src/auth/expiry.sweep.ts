import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { NonceStore, SessionStore } from '#libs/db';
import { LowmarkError } from '#libs/domain';
import { CLOCK, type Clock, type Logger, inSpan } from '#libs/platform';
import { LOGGER } from '../redemption.tokens.js';

const INTERVAL_MS = 10 * 60_000;

/** Clears away nonces and sessions that have expired. They are refused already; this is about space. */
@Injectable()
export class ExpirySweep {
  constructor(
    private readonly nonces: NonceStore,
    private readonly sessions: SessionStore,
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
      });
    } catch (error) {
      if (!(error instanceof LowmarkError)) throw error;
      this.logger.warn(
        { err: error },
        'Expired sessions could not be cleared; the next sweep will',
      );
    }
  }
}
