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
  /** The newest `keep` that is under way, or the last one. */
  private keeping: Promise<unknown> = Promise.resolve();

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

  /**
   * Keeps a transition that was committed, before anything outside of the ledger follows from it. The ledger may have
   * gone back since it was last looked at, so the transition kept before is looked for again before this one replaces
   * it, one after the other.
   * @throws RestoreNotNotedError: nothing may follow from the transition
   */
  async keep({ id, version, openCall }: Redemption, event: string): Promise<void> {
    const requestId = openCall?.requestId ?? null;
    const seen = { redemptionId: id, version, event, requestId, atMs: this.clock.nowMs() };
    const replacing = this.keeping.then(() => this.replaceSeen(seen));
    this.keeping = replacing.catch(() => undefined);
    const { written } = await replacing;
    await written;
  }

  /** @returns `written` resolves when the transition is on the disk: the next one need not wait for that */
  private async replaceSeen(seen: SeenTransition): Promise<{ readonly written: Promise<void> }> {
    try {
      await this.requireNoted();
    } catch (error) {
      // Where the database cannot be asked now, the newest transition is the better mark.
      if (error instanceof RestoreNotNotedError || !(error instanceof LowmarkError)) throw error;
      this.logger.warn({ err: error }, 'Whether the ledger went back could not be read');
    }
    return { written: this.mark.keep(seen) };
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
