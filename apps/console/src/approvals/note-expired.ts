import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { ApprovalStore, CONSOLE_ACTOR } from '#libs/db';
import { RetryableError } from '#libs/domain';
import { CLOCK, type Clock } from '#libs/platform';

const MINUTE_MS = 60_000;

/** Writes expired requests into the log, every minute. They are refused from the moment of their end on. */
@Injectable()
export class NoteExpired {
  constructor(
    private readonly store: ApprovalStore,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Interval('note-expired-approvals', MINUTE_MS)
  async note(): Promise<void> {
    try {
      await this.store.noteExpired(this.clock.nowMs(), CONSOLE_ACTOR);
    } catch (error) {
      // Next time.
      if (!(error instanceof RetryableError)) throw error;
    }
  }
}
