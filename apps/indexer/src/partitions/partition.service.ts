import { type BeforeApplicationShutdown, Inject, Injectable } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { PartitionStore } from '#libs/db';
import { CLOCK, type Clock, type Logger } from '#libs/platform';
import { LOGGER } from '#libs/service';
import { IndexStatus, type Lead } from '../follow/index-status.js';
import { LeadingWork } from '../follow/leading-work.js';

/** While a transaction keeps a table: each look makes those who read it wait for a moment. */
const BUSY_MS = 30_000;
const FAILED_MS = 5 * 60_000;

/**
 * Adds a partition where the newest one of a table is large, in the process that leads, beside its loop: in the first sync, too. The
 * looks are seconds apart, in which a first sync writes a tenth of a partition.
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

  /** Never rejects, and never runs twice at a time: the index goes on without it. */
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
          work.rest(BUSY_MS);
          logger.info({ table }, 'A partition is added once a long transaction has ended');
        }
        if (outcome === 'refused') {
          work.rest(FAILED_MS);
          logger.error({ table }, 'A table of the index has rows above the indexed head: audit it');
        }
      }
    } catch (error) {
      if (signal.aborted) return;
      work.rest(FAILED_MS);
      logger.warn({ err: error }, 'No partition could be added; the index goes on without it');
    }
  }
}
