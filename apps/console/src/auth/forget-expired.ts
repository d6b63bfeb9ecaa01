import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Database, forgetExpired } from '#libs/db';
import { RetryableError } from '#libs/domain';
import { CLOCK, type Clock } from '#libs/platform';

const TEN_MINUTES_MS = 600_000;

@Injectable()
export class ForgetExpired {
  constructor(
    private readonly database: Database,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Interval('forget-expired', TEN_MINUTES_MS)
  async forget(): Promise<void> {
    try {
      await forgetExpired(this.database, this.clock.nowMs());
    } catch (error) {
      // The next run tries again.
      if (!(error instanceof RetryableError)) throw error;
    }
  }
}
