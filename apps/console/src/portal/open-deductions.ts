import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { type ConformanceDeduction, ConformanceDeductionStore } from '#libs/db';
import { type PartnerId, RetryableError } from '#libs/domain';
import { type DeductionJournal, giveBack, type JournalEntry } from '#libs/partner-sdk/conformance';
import { type Logger, messageOf } from '#libs/platform';
import { LOGGER } from '#libs/service';
import { PartnerEndpoints } from './partner-endpoints.js';

/** Interval at which the leases of runs are renewed: a third of the lease. */
const HOLD_MS = 20_000;
const MINUTE_MS = 60_000;
const MOST_AT_ONCE = 50;

export interface RunJournal extends DeductionJournal {
  /**
   * Ends the renewal of the run's lease. Deductions that the run leaves open are given back like those of a killed run.
   */
  end(): void;
}

/**
 * The deductions of conformance runs that may still have to be given back.
 * Each has a row, written before the call is sent and removed when the deduction is settled. The console of the run
 * renews a lease on its rows. Rows of a killed console lose their lease, and any console gives their points back.
 */
@Injectable()
export class OpenDeductions implements OnApplicationBootstrap {
  private readonly runs = new Set<string>();

  constructor(
    private readonly store: ConformanceDeductionStore,
    private readonly endpoints: PartnerEndpoints,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    // Not awaited, so that a partner that does not answer does not delay the start.
    void this.giveBackDue();
  }

  begin(runId: string, partnerId: PartnerId): RunJournal {
    this.runs.add(runId);
    return {
      sent: ({ svcRedemptionId: redemptionId, address, points }) =>
        this.store.add({ runId, partnerId, redemptionId, address, points }),
      succeeded: (redemptionId, transactionId) =>
        this.store.noteSuccess(redemptionId, transactionId),
      // A settled row that could not be removed is found to be settled by the next attempt to give its points back.
      settled: (redemptionIds) =>
        this.logErrors('Settled deductions of a conformance run could not be noted', () =>
          this.store.remove(redemptionIds),
        ),
      end: () => {
        this.runs.delete(runId);
      },
    };
  }

  @Interval('hold-conformance-runs', HOLD_MS)
  async renewLeases(): Promise<void> {
    if (this.runs.size === 0) return;
    await this.logErrors('Conformance runs could not be held', () =>
      this.store.hold([...this.runs]),
    );
  }

  @Interval('give-back-conformance-deductions', MINUTE_MS)
  async giveBackDue(): Promise<void> {
    await this.logErrors('Deductions of conformance runs could not be given back', async () => {
      const due = await this.store.takeDue(MOST_AT_ONCE);
      const partners = new Set(due.map(({ partnerId }) => partnerId));
      const of = (id: string) => due.filter(({ partnerId }) => partnerId === id);
      await Promise.all([...partners].map((id) => this.giveBack(id, of(id))));
    });
  }

  private async giveBack(
    partnerId: PartnerId,
    rows: readonly ConformanceDeduction[],
  ): Promise<void> {
    try {
      const { target } = await this.endpoints.find(partnerId);
      const open = await giveBack(target, rows.map(entryOf));
      const left = new Set(open.map(({ svcRedemptionId }) => svcRedemptionId));
      const done = rows.map(({ redemptionId }) => redemptionId).filter((id) => !left.has(id));
      await this.store.remove(done);
      if (done.length > 0) {
        const message = 'Points that an interrupted conformance run had deducted are back';
        this.logger.info({ partnerId, redemptionIds: done }, message);
      }
      for (const unresolved of open) {
        this.logger.warn({ partnerId, ...unresolved }, STUCK);
      }
    } catch (error) {
      // A fault of one partner, such as a missing callback, does not hold up the rows of the others.
      const deductions = rows.map(({ redemptionId, address, points }) => {
        return { redemptionId, address, points };
      });
      const reason = messageOf(error);
      this.logger.warn({ partnerId, deductions, reason }, STUCK);
    }
  }

  /** Logs errors of the work; the next run of the interval tries again. */
  private async logErrors(failure: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (error instanceof RetryableError) this.logger.warn({ reason: error.message }, failure);
      else this.logger.error({ err: error }, failure);
    }
  }
}

const STUCK =
  'Points that a conformance run deducted are not back yet; it is tried again, later each time';

function entryOf(row: ConformanceDeduction): JournalEntry {
  const { redemptionId: svcRedemptionId, address, points, transactionId } = row;
  return { svcRedemptionId, address, points, transactionId: transactionId ?? undefined };
}
