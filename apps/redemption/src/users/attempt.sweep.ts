import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { AttemptStore } from '#libs/db';
import { LowmarkError } from '#libs/domain';
import { CLOCK, type Clock, type Logger, inSpan } from '#libs/platform';
import { LOGGER } from '../redemption.tokens.js';

const INTERVAL_MS = 10 * 60_000;

/** Clears away what attempts left behind that came to nothing, so that no crowd fills the disk. */
@Injectable()
export class AttemptSweep {
  constructor(
    private readonly attempts: AttemptStore,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  @Interval(INTERVAL_MS)
  async sweep(): Promise<void> {
    try {
      await inSpan({ name: 'sweep vain attempts' }, () =>
        this.attempts.forgetOld(this.clock.nowMs()),
      );
    } catch (error) {
      if (!(error instanceof LowmarkError)) throw error;
      this.logger.warn({ err: error }, 'Vain attempts could not be cleared; the next sweep will');
    }
  }
}
