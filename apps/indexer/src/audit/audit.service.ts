import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { type AuditRunStore } from '#libs/db';
import { type Clock, inSpan, type Logger, SingleFlight } from '#libs/platform';
import { type IndexStatus } from '../follow/index-status.js';
import { isAuditDue } from './audit-due.js';
import { type NightlyAudit } from './nightly-audit.js';

export interface AuditServiceParts {
  readonly audit: Pick<NightlyAudit, 'run'>;
  readonly runs: Pick<AuditRunStore, 'lastComparison'>;
  readonly status: Pick<IndexStatus, 'phase' | 'lead'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** 0 to 23. */
  readonly hourUtc: number;
}

/** After an audit that failed or could not be made. */
const RETRY_AFTER_MS = 50 * 60_000;

/**
 * Audits the index once a night, in the process that leads and while it follows the chain. Whether one is due is looked up every ten
 * minutes, so one that was missed or failed is made up for. After a difference the first look of a new process is due at once:
 * somebody may have mended the cause.
 */
@Injectable()
export class AuditService implements BeforeApplicationShutdown {
  private readonly stopping = new AbortController();
  private readonly runs = new SingleFlight<void>();
  private notBeforeMs = 0;
  private hasCompared = false;

  constructor(private readonly parts: AuditServiceParts) {}

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.runs.underWay();
  }

  /** Never rejects, and never runs twice at a time: the index goes on without it. */
  @Cron('*/10 * * * *', { name: 'audit', timeZone: 'UTC' })
  tick(): Promise<void> {
    return this.runs.run(() => this.attempt());
  }

  private async attempt(): Promise<void> {
    const { audit, status, clock, logger } = this.parts;
    const { lead, phase } = status;
    if (lead === undefined || phase !== 'following' || clock.nowMs() < this.notBeforeMs) return;
    if (this.stopping.signal.aborted) return;
    const signal = AbortSignal.any([lead.signal, this.stopping.signal]);
    try {
      if (!(await this.isDue())) return;
      const { result } = await inSpan({ name: 'nightly audit' }, () =>
        audit.run({ ...lead, signal }),
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
    const { runs, clock, hourUtc } = this.parts;
    const last = await runs.lastComparison();
    if (last?.result === 'different' && !this.hasCompared) return true;
    return isAuditDue(hourUtc, last?.startedAt.getTime(), clock.nowMs());
  }

  private waitLong(): void {
    this.notBeforeMs = this.parts.clock.nowMs() + RETRY_AFTER_MS;
  }
}
