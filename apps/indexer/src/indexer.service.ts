import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleDestroy,
} from '@nestjs/common';
import { CLOCK, type Clock } from '#libs/platform';
import { HealthRegistry } from '#libs/service';
import { percentOf } from './backfill/backfill-progress.js';
import { type Indexer } from './create-indexer.js';
import { INDEXER, SETTINGS } from './indexer.tokens.js';
import { type IndexerSettings } from './indexer.env.js';

/** Runs the indexer from the application's start to its end and answers for it in /health/ready. */
@Injectable()
export class IndexerService
  implements OnApplicationBootstrap, OnModuleDestroy, OnApplicationShutdown
{
  private readonly stop = new AbortController();
  private running: Promise<void> = Promise.resolve();
  /** Rejects where the indexer cannot start with these settings; resolves when it has stopped. */
  readonly ended: Promise<void>;
  private settle: (run: Promise<void>) => void = () => undefined;

  constructor(
    @Inject(INDEXER) private readonly indexer: Indexer,
    @Inject(SETTINGS) private readonly settings: IndexerSettings,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly health: HealthRegistry,
  ) {
    this.ended = new Promise((resolve) => {
      this.settle = resolve;
    });
  }

  onApplicationBootstrap(): void {
    const { status, progress } = this.indexer;
    this.health.register('index', () => {
      const nowMs = this.clock.nowMs();
      const reason = status.notReady(nowMs, this.settings.indexMaxLagSeconds);
      const { startBlock, ratio, blocksPerSecond, secondsLeft } = progress.figures();
      return {
        ...(reason !== undefined && { reason }),
        details: {
          phase: status.phase,
          startBlock: Number(startBlock),
          headBlock: status.head ? Number(status.head.number) : null,
          chainHeadBlock:
            status.chainHeadNumber === undefined ? null : Number(status.chainHeadNumber),
          finalisedBlock: status.finalised ? Number(status.finalised.number) : null,
          lagSeconds: status.lagSeconds(nowMs) ?? null,
          percent: ratio === undefined ? null : percentOf(ratio),
          blocksPerSecond: blocksPerSecond === undefined ? null : Math.round(blocksPerSecond),
          secondsLeft: secondsLeft ?? null,
          verification: status.verification?.mode ?? null,
        },
      };
    });
    this.running = this.indexer.run(this.stop.signal);
    this.settle(this.running);
  }

  /** Before all others stop, as some of them wait for answers of the endpoints. */
  onModuleDestroy(): void {
    this.stop.abort();
  }

  async onApplicationShutdown(): Promise<void> {
    // A failed start is reported by whoever awaits `ended`.
    await this.running.catch(() => undefined);
  }
}
