import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { ReconciliationStore } from '#libs/db';
import { CLOCK, type Clock, inSpan, type Logger, SingleFlight } from '#libs/platform';
import { LOGGER } from '#libs/service';
import { Reconciler } from './reconciler.js';

/** Milliseconds after which the last run is too old: a day, and an hour for a late run. */
const STALE_MS = 25 * 3_600_000;

/**
 * Compares the ledger with the chain once a day. A failed or missed run is repeated within the hour, and so is a run
 * whose findings were acknowledged since. Every process has the schedule, and one of them does the run.
 */
@Injectable()
export class ReconciliationService implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly stopping = new AbortController();
  private readonly runs = new SingleFlight<void>();

  constructor(
    private readonly reconciler: Reconciler,
    private readonly store: ReconciliationStore,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    void this.catchUp();
  }

  /** Aborts the run under way; what was read of the chain is kept for the next run. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.runs.underWay();
  }

  @Cron('20 0 * * *', { name: 'reconciliation', timeZone: 'UTC' })
  daily(): Promise<void> {
    return this.once(() => Promise.resolve(true));
  }

  @Cron('50 * * * *', { name: 'reconciliation-missed', timeZone: 'UTC' })
  catchUp(): Promise<void> {
    return this.once(() => this.isStale());
  }

  private async isStale(): Promise<boolean> {
    const last = await this.store.lastRun();
    return !last || last.isOutdated || this.clock.nowMs() - last.at.getTime() > STALE_MS;
  }

  /** Never rejects, so that a failed reconciliation does not stop the redemptions. */
  private once(isDue: () => Promise<boolean>): Promise<void> {
    if (this.stopping.signal.aborted) return Promise.resolve();
    return this.runs.run(() => this.attempt(isDue));
  }

  private async attempt(isDue: () => Promise<boolean>): Promise<void> {
    const { reconciler, logger } = this;
    const { signal } = this.stopping;
    try {
      if (await isDue())
        await inSpan({ name: 'reconciliation' }, () => reconciler.reconcile(signal));
    } catch (error) {
      if (signal.aborted) logger.info('Stopped reconciling; the next run goes on from there');
      else logger.error({ err: error }, 'The ledger could not be compared with the chain');
    }
  }
}
