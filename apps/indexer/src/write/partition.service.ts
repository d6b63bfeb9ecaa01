import { type BeforeApplicationShutdown, Inject, Injectable } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { PartitionStore } from '#libs/db';
import { CLOCK, type Clock, type Logger } from '#libs/platform';
import { LOGGER } from '#libs/service';
import { IndexStatus, type Lead } from '../health/index-status.js';
import { LeadingWork } from '../health/leading-work.js';

/**
 * Pause after a long transaction kept a table busy. Each attempt waits up to 200 ms for the table's lock, and readers
 * of the table queue behind the attempt.
 */
const BUSY_MS = 30_000;
const FAILED_MS = 5 * 60_000;

/**
 * Adds a partition where the newest one of a table is large. Runs in the leader, beside the loop, during the first sync
 * as well. The interval of ten seconds is short enough: a first sync fills about a tenth of a partition in this time.
 */
@Injectable()
export class PartitionService implements BeforeApplicationShutdown {
  private readonly work: LeadingWork;

  constructor(
    @Inject(PartitionStore) private readonly partitions: PartitionStore,
    @Inject(IndexStatus) status: IndexStatus,
    @Inject(CLOCK) clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.work = new LeadingWork(status, clock, ['backfilling', 'following']);
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.work.stop();
  }

  /** Never rejects, so that a failed attempt does not stop the index. One attempt runs at a time. */
  @Cron('*/10 * * * * *', { name: 'partitions', timeZone: 'UTC' })
  tick(): Promise<void> {
    return this.work.run((lead) => this.attempt(lead));
  }

  private async attempt({ fence, signal }: Lead): Promise<void> {
    const { logger, work } = this;
    try {
      for (const [table, outcome] of Object.entries(await this.partitions.extend(fence))) {
        if (outcome === 'added') logger.info({ table }, 'Added a partition');
        if (outcome === 'busy') {
          work.pauseFor(BUSY_MS);
          logger.info({ table }, 'A partition is added once a long transaction has ended');
        }
        if (outcome === 'refused') {
          work.pauseFor(FAILED_MS);
          logger.error({ table }, 'A table of the index has rows above the indexed head: audit it');
        }
      }
    } catch (error) {
      if (signal.aborted) return;
      work.pauseFor(FAILED_MS);
      logger.warn({ err: error }, 'No partition could be added; the index goes on without it');
    }
  }
}
