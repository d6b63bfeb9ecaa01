/**
 * Notices a ledger that went back in time: by the mark that a restore leaves in the database, and by the newest
 * transition that this service has seen there. While such a restore is not noted, the database begins nothing, and this
 * service signs no voucher (docs/redemption.md, "A ledger that was restored").
 */
import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnModuleInit,
} from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import {
  LedgerRestoreStore,
  RestoreNotNotedError,
  type SeenTransition,
  type UnnotedRestore,
} from '#libs/db';
import { LowmarkError, type Redemption } from '#libs/domain';
import { CLOCK, type Clock, type Logger, SingleFlight } from '#libs/platform';
import { LOGGER } from '#libs/service';
import { Alerts } from '../observe/alerts.js';
import { HourlyAlerts } from '../observe/hourly-alerts.js';
import { HighWaterMark } from './high-water-mark.js';

const EVERY_MS = 10_000;

@Injectable()
export class LedgerWatch implements OnModuleInit, BeforeApplicationShutdown {
  private readonly alerts: HourlyAlerts;
  private readonly looks = new SingleFlight<void>();

  constructor(
    private readonly store: LedgerRestoreStore,
    private readonly mark: HighWaterMark,
    alerts: Alerts,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.alerts = new HourlyAlerts(alerts, clock);
  }

  /** Before the engine starts. */
  async onModuleInit(): Promise<void> {
    await this.mark.read();
    await this.look();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.looks.underWay();
  }

  /** Notices a restore also while nothing is redeemed. Never rejects. */
  @Interval('ledger', EVERY_MS)
  look(): Promise<void> {
    return this.looks.run(() => this.attempt());
  }

  /** The restore that is not noted; undefined where the ledger is in order. Marks a ledger that lacks what was seen. */
  async unnoted(): Promise<UnnotedRestore | undefined> {
    const { seen } = this.mark;
    let { unnoted, lacksSeen } = await this.store.standing(seen);
    if (unnoted === undefined && lacksSeen && seen !== undefined) {
      await this.store.mark(whatIsMissing(seen), seen.atMs);
      ({ unnoted, lacksSeen } = await this.store.standing(seen));
    }
    if (unnoted !== undefined) this.tell(unnoted);
    return unnoted;
  }

  /** @throws RestoreNotNotedError */
  async requireNoted(): Promise<void> {
    if ((await this.unnoted()) !== undefined) throw new RestoreNotNotedError();
  }

  /** Keeps a transition that was committed, before anything outside of the ledger follows from it. */
  keep({ id, version, openCall }: Redemption, event: string): Promise<void> {
    return this.mark.keep({
      redemptionId: id,
      ...{ version, event },
      requestId: openCall?.requestId ?? null,
      atMs: this.clock.nowMs(),
    });
  }

  private async attempt(): Promise<void> {
    try {
      await this.unnoted();
    } catch (error) {
      if (!(error instanceof LowmarkError)) throw error;
      this.logger.warn({ err: error }, 'Whether the ledger went back could not be read');
    }
  }

  private tell({ atMs, noticed }: UnnotedRestore): void {
    this.alerts.raise(
      {
        severity: 'critical',
        code: 'restore-not-noted',
        detail: `${noticed}; marked at ${new Date(atMs).toISOString()}. ${new RestoreNotNotedError().message}`,
      },
      String(atMs),
    );
  }
}

function whatIsMissing({ redemptionId, version, atMs }: SeenTransition): string {
  return `the ledger lacks version ${version} of redemption ${redemptionId}, which was there at ${new Date(atMs).toISOString()}`;
}
