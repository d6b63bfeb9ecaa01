import { type BeforeApplicationShutdown, Inject, Injectable } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { AuditRunStore } from '#libs/db';
import { CLOCK, type Clock, inSpan, type Logger, SingleFlight } from '#libs/platform';
import { NightlyAudit } from '#libs/verification';
import { LOGGER } from '#libs/service';
import { IndexStatus } from '../follow/index-status.js';
import { IndexerSettings } from '../indexer.env.js';

/** After an audit that failed or could not be made. */
const RETRY_AFTER_MS = 50 * 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/**
 * Audits the index once a night, in the process that leads and while it follows the chain. Whether one is due is looked up every
 * minute, so the first one follows the first sync, and one that was missed or failed is made up for. After a difference the first look
 * of a new process is due at once: the cause may have been mended.
 */
@Injectable()
export class AuditService implements BeforeApplicationShutdown {
  private readonly stopping = new AbortController();
  private readonly audits = new SingleFlight<void>();
  private notBeforeMs = 0;
  private hasCompared = false;

  constructor(
    @Inject(NightlyAudit) private readonly nightly: NightlyAudit,
    @Inject(AuditRunStore) private readonly runs: AuditRunStore,
    @Inject(IndexStatus) private readonly status: IndexStatus,
    @Inject(IndexerSettings) private readonly settings: IndexerSettings,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.audits.underWay();
  }

  /** Never rejects, and never runs twice at a time: the index goes on without it. */
  @Cron('* * * * *', { name: 'audit', timeZone: 'UTC' })
  tick(): Promise<void> {
    return this.audits.run(() => this.attempt());
  }

  private async attempt(): Promise<void> {
    const { status, clock, logger } = this;
    const { lead, phase } = status;
    if (lead === undefined || phase !== 'following' || clock.nowMs() < this.notBeforeMs) return;
    if (this.stopping.signal.aborted) return;
    const signal = AbortSignal.any([lead.signal, this.stopping.signal]);
    try {
      if (!(await this.isDue())) return;
      const { result } = await inSpan({ name: 'nightly audit' }, () =>
        this.nightly.audit({ ...lead, signal }, this.settings.auditSample),
      );
      if (result === 'impossible') this.waitLong();
      else this.hasCompared = true;
    } catch (error) {
      if (signal.aborted) {
        logger.info('Stopped the audit of the index; the next one begins anew');
        return;
      }
      this.waitLong();
      logger.error({ err: error }, 'The audit of the index failed');
    }
  }

  private async isDue(): Promise<boolean> {
    const last = await this.runs.lastComparison();
    if (last?.result === 'different' && !this.hasCompared) return true;
    const { auditHourUtc } = this.settings;
    return (
      auditHourUtc !== 'off' &&
      isAuditDue(auditHourUtc, last?.startedAt.getTime(), this.clock.nowMs())
    );
  }

  private waitLong(): void {
    this.notBeforeMs = this.clock.nowMs() + RETRY_AFTER_MS;
  }
}

/**
 * Whether an audit is due: none has begun since the hour was last struck. So one that was missed, or failed, stays due until it is
 * made up for.
 * @param hourUtc 0 to 23
 * @param lastMs when the last audit that came to an end began; Unix time
 */
export function isAuditDue(hourUtc: number, lastMs: number | undefined, nowMs: number): boolean {
  const struckMs = nowMs - ((nowMs - hourUtc * HOUR_MS) % DAY_MS);
  return lastMs === undefined || lastMs < struckMs;
}
