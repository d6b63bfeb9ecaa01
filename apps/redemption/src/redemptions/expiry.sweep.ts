import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { AttemptStore, NonceStore, SessionStore } from '#libs/db';
import { LowmarkError } from '#libs/domain';
import { CLOCK, type Clock, inSpan, type Logger } from '#libs/platform';
import { LOGGER } from '#libs/service';

const INTERVAL_MS = 10 * 60_000;

/**
 * Deletes expired nonces and sessions, which are refused anyway, and vain attempts that no longer count. The only
 * purpose is space: many requests must not fill the disk.
 */
@Injectable()
export class ExpirySweep {
  constructor(
    private readonly nonces: NonceStore,
    private readonly sessions: SessionStore,
    private readonly attempts: AttemptStore,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  @Interval('expiry', INTERVAL_MS)
  async sweep(): Promise<void> {
    const nowMs = this.clock.nowMs();
    await this.clear('Expired sessions', 'sweep expired sessions', async () => {
      await this.nonces.forgetExpired(nowMs);
      await this.sessions.forgetExpired(nowMs);
    });
    await this.clear('Vain attempts', 'sweep vain attempts', () => this.attempts.forgetOld(nowMs));
  }

  private async clear(what: string, name: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await inSpan({ name }, work);
    } catch (error) {
      if (!(error instanceof LowmarkError)) throw error;
      this.logger.warn({ err: error }, `${what} could not be cleared; the next sweep will`);
    }
  }
}
