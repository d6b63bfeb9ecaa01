import { Inject, Injectable } from '@nestjs/common';
import { type RedisLink } from '#libs/cache';
import { Counter, Gauge, measureRedis, Registry } from '#libs/service';
import { Admissions } from '../auth/admission.js';
import { REDIS } from '../connections.module.js';
import { ApiChecks } from './api-checks.js';
import { RequestLog } from '../requests/request-log.js';
import { StakeSets } from '../snapshots/stake-sets.js';

/** Metrics of the counters that the api keeps as plain numbers, read at each scrape. */
@Injectable()
export class ApiMetrics {
  constructor(
    registry: Registry,
    { refused }: Admissions,
    stakeSets: StakeSets,
    checks: ApiChecks,
    requestLog: RequestLog,
    @Inject(REDIS) redis: RedisLink | undefined,
  ) {
    const registers = [registry];
    new Counter({
      name: 'lowmark_rate_limited_total',
      help: 'Requests refused with 429, by whose limit it was',
      labelNames: ['limit'],
      registers,
      collect() {
        this.reset();
        this.inc({ limit: 'partner' }, refused.partner);
        this.inc({ limit: 'address' }, refused.address);
      },
    });
    new Counter({
      name: 'lowmark_cache_requests_total',
      help: 'Parts of snapshots looked for in a cache, by layer and result',
      labelNames: ['layer', 'result'],
      registers,
      collect() {
        this.reset();
        const { counts } = stakeSets;
        for (const layer of ['process', 'redis'] as const) {
          for (const result of ['hit', 'miss'] as const) {
            this.inc({ layer, result }, counts[layer][result]);
          }
        }
      },
    });
    new Gauge({
      name: 'lowmark_stake_set_lag_seconds',
      help: 'How far the newest block of each stake set that has an index is behind the clock, whether its indexer runs or not',
      labelNames: ['stake_set'],
      registers,
      async collect() {
        this.reset();
        // Without an answer of the database there is no figure; the health page reports the failure.
        const lags = await checks.lagSeconds().catch(() => new Map<string, number>());
        for (const [stake_set, lag] of lags) this.set({ stake_set }, lag);
      },
    });
    new Counter({
      name: 'lowmark_api_request_log_dropped_total',
      help: 'Requests of partners that were answered and are not in the log of requests',
      registers,
      collect() {
        this.reset();
        this.inc(requestLog.dropped);
      },
    });
    new Counter({
      name: 'lowmark_api_request_log_written_total',
      help: 'Requests of partners that were written to the log of requests',
      registers,
      collect() {
        this.reset();
        this.inc(requestLog.written);
      },
    });
    if (redis !== undefined) measureRedis(registry, redis, 'limits and cached parts');
  }
}
