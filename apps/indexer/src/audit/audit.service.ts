import { type BeforeApplicationShutdown, Inject, Injectable } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { AuditRunStore } from '#libs/db';
import { CLOCK, type Clock, inSpan, type Logger } from '#libs/platform';
import { NightlyAudit } from '#libs/verification';
import { LOGGER } from '#libs/service';
import { IndexStatus, type Lead } from '../health/index-status.js';
import { LeadingWork } from '../health/leading-work.js';
import { IndexerSettings } from '../settings/indexer.env.js';

const RETRY_AFTER_MS = 50 * 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/**
 * Audits the index once a night, in the leader and only while it follows the chain. A check each minute decides whether
 * an audit is due, so the first audit follows the first sync and a missed or failed one is made up for. Where the last
 * audit found differences, a new process audits at once, as their cause may have been corrected.
 */
@Injectable()
export class AuditService implements BeforeApplicationShutdown {
  private readonly work: LeadingWork;
  private hasCompared = false;

  constructor(
    @Inject(NightlyAudit) private readonly nightly: NightlyAudit,
    @Inject(AuditRunStore) private readonly runs: AuditRunStore,
    @Inject(IndexStatus) status: IndexStatus,
    @Inject(IndexerSettings) private readonly settings: IndexerSettings,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.work = new LeadingWork(status, clock);
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.work.stop();
  }

  /** Never rejects, so that a failed audit does not stop the index. One audit runs at a time. */
  @Cron('* * * * *', { name: 'audit', timeZone: 'UTC' })
  tick(): Promise<void> {
    return this.work.run((lead) => this.attempt(lead));
  }

  private async attempt(lead: Lead): Promise<void> {
    const { logger } = this;
    try {
      if (!(await this.isDue())) return;
      const { result } = await inSpan({ name: 'nightly audit' }, () =>
        this.nightly.audit(lead, this.settings.auditSample),
      );
      if (result === 'impossible') this.work.pauseFor(RETRY_AFTER_MS);
      else this.hasCompared = true;
    } catch (error) {
      if (lead.signal.aborted) {
        logger.info('Stopped the audit of the index; the next one begins again');
        return;
      }
      this.work.pauseFor(RETRY_AFTER_MS);
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
}

/**
 * Whether an audit is due: the last completed one began before the most recent occurrence of the hour. A missed or
 * failed audit therefore stays due until one completes.
 * @param hourUtc 0 to 23
 * @param lastMs start of the last audit that completed; Unix time in milliseconds
 */
export function isAuditDue(hourUtc: number, lastMs: number | undefined, nowMs: number): boolean {
  const struckMs = nowMs - ((nowMs - hourUtc * HOUR_MS) % DAY_MS);
  return lastMs === undefined || lastMs < struckMs;
}
