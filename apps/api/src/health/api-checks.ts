import { Inject, Injectable } from '@nestjs/common';
import { type RedisLink } from '#libs/cache';
import { type SnapshotState } from '#libs/db';
import { coverage, type CoverageGap, windowOf } from '#libs/domain';
import { CLOCK, type Clock, TtlCache } from '#libs/platform';
import { type CheckResult, HealthRegistry, PROCESS_CHECK } from '#libs/service';
import { ApiSettings } from '../api.env.js';
import { REDIS } from '../connections.module.js';
import { StandbyReads } from '../standbys/standby-reads.js';

const REASONS: Readonly<Record<CoverageGap, string>> = {
  halted: 'has stopped',
  'not-synced': 'is not complete yet',
  lagging: 'is behind the chain',
};

/** Requests for the health need no key: all within this time share one reading, also one that fails. */
const SHARED_MS = 1000;

/** Readiness: whether a snapshot asked for now would be answered. */
@Injectable()
export class ApiChecks {
  private stopped = false;
  private readonly readings: TtlCache<'index', Promise<SnapshotState | undefined>>;

  constructor(
    health: HealthRegistry,
    private readonly reads: StandbyReads,
    private readonly settings: ApiSettings,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    this.readings = new TtlCache({ clock, ttlMs: SHARED_MS, max: 1 });
    health.register(PROCESS_CHECK, () => (this.stopped ? { reason: 'is shutting down' } : {}));
    health.register('index', () => this.checkIndex());
  }

  /** From now on not ready, though requests are still answered. */
  stopping(): void {
    this.stopped = true;
  }

  private async checkIndex(): Promise<CheckResult> {
    const state = await this.readIndex();
    if (state === undefined) return { reason: 'does not exist yet: start the indexer' };
    const nowMs = this.clock.nowMs();
    const progress = {
      headSeconds: state.head.timestampSeconds,
      syncedAt: state.syncedAt,
      haltedReason: state.haltedReason,
    };
    const covered = coverage(progress, windowOf(nowMs, 1), nowMs, this.settings.indexMaxLagSeconds);
    const details = {
      block: state.head.number.toString(),
      lagSeconds: Math.round(nowMs / 1000) - state.head.timestampSeconds,
    };
    return covered === 'covered' ? { details } : { reason: REASONS[covered.reason], details };
  }

  private readIndex(): Promise<SnapshotState | undefined> {
    const kept = this.readings.get('index');
    if (kept !== undefined) return kept;
    const reading = this.reads.read().then((read) => read?.state);
    this.readings.set('index', reading);
    return reading;
  }
}

/** Never a reason not to be ready: without Redis a replica serves by itself. */
@Injectable()
export class RedisCheck {
  constructor(health: HealthRegistry, @Inject(REDIS) redis: RedisLink | undefined) {
    health.register('redis', () => ({ details: { used: redis?.isUp ?? false } }));
  }
}
