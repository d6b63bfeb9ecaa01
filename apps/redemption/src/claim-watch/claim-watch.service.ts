import {
  type BeforeApplicationShutdown,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { inSpan, type Logger, SingleFlight } from '#libs/platform';
import { type ClaimWatch } from './claim-watch.js';

export interface ClaimWatchServiceParts {
  readonly watch: Pick<ClaimWatch, 'run'>;
  readonly logger: Logger;
}

const EVERY_MS = 60_000;

/** Looks at the claims every minute. Every process has the schedule, and one of them does it. */
@Injectable()
export class ClaimWatchService implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly stopping = new AbortController();
  private readonly runs = new SingleFlight<void>();

  constructor(private readonly parts: ClaimWatchServiceParts) {}

  onApplicationBootstrap(): void {
    void this.look();
  }

  /** What was found is kept. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.runs.underWay();
  }

  /** Never rejects: redemptions go on without it, and an alert says since when. */
  @Interval('claim-watch', EVERY_MS)
  look(): Promise<void> {
    if (this.stopping.signal.aborted) return Promise.resolve();
    return this.runs.run(() => this.attempt());
  }

  private async attempt(): Promise<void> {
    const { watch, logger } = this.parts;
    const { signal } = this.stopping;
    try {
      await inSpan({ name: 'claim watch' }, () => watch.run(signal));
    } catch (error) {
      if (signal.aborted) logger.info('Stopped watching claims');
      else logger.warn({ err: error }, 'The claims of the vault could not be watched');
    }
  }
}
