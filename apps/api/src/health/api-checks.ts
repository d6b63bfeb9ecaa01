import { Inject, Injectable } from '@nestjs/common';
import { type RedisLink } from '#libs/cache';
import { type SnapshotState } from '#libs/db';
import { coverage, type CoverageGap, DEFAULT_STAKE_SET, windowOf } from '#libs/domain';
import { CLOCK, type Clock, TtlCache } from '#libs/platform';
import { type CheckResult, HealthRegistry, PROCESS_CHECK } from '#libs/service';
import { ApiSettings } from '../api.env.js';
import { REDIS } from '../connections.module.js';
import { StakeSets } from '../snapshots/stake-sets.js';

const REASONS: Readonly<Record<Exclude<CoverageGap, 'ahead'>, string>> = {
  halted: 'has stopped',
  'not-synced': 'is not complete yet',
  lagging: 'is behind the chain',
};

/**
 * Readiness requests need no key. All of them within this time share one read of the index, even a failed one.
 * Milliseconds.
 */
const SHARED_MS = 1000;

/** Readiness: whether at least one stake set could answer a request for a snapshot now. */
@Injectable()
export class ApiChecks {
  private stopped = false;
  private readonly readings: TtlCache<'index', Promise<ReadonlyMap<string, SnapshotState>>>;

  constructor(
    health: HealthRegistry,
    private readonly stakeSets: StakeSets,
    private readonly settings: ApiSettings,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    this.readings = new TtlCache({ clock, ttlMs: SHARED_MS, max: 1 });
    health.register(PROCESS_CHECK, () => (this.stopped ? { reason: 'is shutting down' } : {}));
    health.register('index', () => this.checkIndex());
  }

  /** Reports not ready from now on, while requests are still answered. */
  stopping(): void {
    this.stopped = true;
  }

  /** Age of the newest indexed block of each stake set, in seconds, by the set's name. */
  async lagSeconds(): Promise<Map<string, number>> {
    const states = [...(await this.readStates())];
    return new Map(states.map(([name, state]) => [name, this.lagOf(state)]));
  }

  private async checkIndex(): Promise<CheckResult> {
    const states = await this.readStates();
    const results = [...states].map(([name, state]) => [name, this.resultOf(state)] as const);
    const [only] = results;
    if (only === undefined) return { reason: 'does not exist yet: start the indexer' };
    if (results.length === 1 && only[0] === DEFAULT_STAKE_SET) return only[1];
    const isServed = results.some(([, { reason }]) => reason === undefined);
    const details = Object.fromEntries(
      results.map(([name, { reason = 'ready' }]) => [name, reason]),
    );
    return isServed ? { details } : { reason: 'serves no stake set', details };
  }

  private resultOf(state: SnapshotState): CheckResult {
    const nowMs = this.clock.nowMs();
    const progress = {
      headSeconds: state.head.timestampSeconds,
      syncedAt: state.syncedAt,
      haltedReason: state.haltedReason,
    };
    const covered = coverage(progress, windowOf(nowMs, 1), nowMs, this.settings.indexMaxLagSeconds);
    const block = state.head.number.toString();
    const lagSeconds = this.lagOf(state);
    // A block may be some seconds ahead of the clock.
    const details = { block, lagSeconds: Math.max(0, lagSeconds) };
    if (covered === 'covered') return { details };
    if (covered.reason !== 'ahead') return { reason: REASONS[covered.reason], details };
    const reason = `is ${-lagSeconds} s ahead of the clock of this machine: let it follow a time server (NTP)`;
    return { reason, details: { block } };
  }

  private lagOf({ head }: SnapshotState): number {
    return Math.round(this.clock.nowMs() / 1000) - head.timestampSeconds;
  }

  private readStates(): Promise<ReadonlyMap<string, SnapshotState>> {
    const kept = this.readings.get('index');
    if (kept !== undefined) return kept;
    const reading = this.stakeSets.states();
    this.readings.set('index', reading);
    return reading;
  }
}

/** Reports whether Redis is used. Readiness never depends on Redis, because a replica serves without it. */
@Injectable()
export class RedisCheck {
  constructor(health: HealthRegistry, @Inject(REDIS) redis: RedisLink | undefined) {
    health.register('redis', () => ({ details: { used: redis?.isUp ?? false } }));
  }
}
