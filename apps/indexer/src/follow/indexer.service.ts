import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleDestroy,
} from '@nestjs/common';
import { RpcPool } from '#libs/chain';
import { CLOCK, type Clock } from '#libs/platform';
import { type CheckResult, HealthRegistry } from '#libs/service';
import { IndexerSettings } from '../settings/indexer.env.js';
import { Supervisor } from './supervisor.js';
import { BACKGROUND_POOL } from '../settings/index-options.js';
import { BackfillProgress, percentOf } from '../health/backfill-progress.js';
import { IndexStatus } from '../health/index-status.js';

/** Runs the indexer for the life of the application and reports its state in /health/ready. */
@Injectable()
export class IndexerService
  implements OnApplicationBootstrap, OnModuleDestroy, OnApplicationShutdown
{
  private readonly stop = new AbortController();
  private start: () => void = () => undefined;
  /** Resolves when the indexer has stopped; rejects where it cannot start with these settings. */
  readonly ended: Promise<void> = new Promise<void>((resolve) => {
    this.start = resolve;
  }).then(() => this.supervisor.keepIndex(this.stop.signal));

  constructor(
    @Inject(Supervisor) private readonly supervisor: Supervisor,
    @Inject(IndexStatus) private readonly status: IndexStatus,
    @Inject(BackfillProgress) private readonly progress: BackfillProgress,
    @Inject(IndexerSettings) private readonly settings: IndexerSettings,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RpcPool) private readonly pool: RpcPool,
    @Inject(BACKGROUND_POOL) private readonly besidePool: RpcPool,
    private readonly health: HealthRegistry,
  ) {}

  onApplicationBootstrap(): void {
    this.health.register('index', () => this.check());
    this.start();
  }

  /** Runs before the shutdown hooks of other services, because some of them wait for answers of the endpoints. */
  onModuleDestroy(): void {
    this.stop.abort();
    this.start();
    this.pool.stop();
    this.besidePool.stop();
  }

  async onApplicationShutdown(): Promise<void> {
    // The caller that awaits `ended` reports a failed start.
    await this.ended.catch(() => undefined);
  }

  private check(): CheckResult {
    const { status } = this;
    const nowMs = this.clock.nowMs();
    const reason = status.notReady(nowMs, this.settings.indexMaxLagSeconds);
    const { startBlock, ratio, blocksPerSecond, secondsLeft } = this.progress.figures();
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
  }
}
