import { type CallOutcome, type OpenCall, payoutEvent, revertEvent } from '#libs/domain';
import { type PartnerEntry } from '../partner/partner-directory.js';
import { type CommittedPayout, type PayoutPort } from '../payout/payout-port.js';
import { type Applied, type Work } from '../worker/transition-writer.js';
import { BookingCall, type BookingParts, type OutcomeEvents } from './booking.step.js';

/** Gives the points back: `reverting`. */
export class RevertStep extends BookingCall<'revert'> {
  protected readonly step = 'revert';

  constructor(
    parts: BookingParts,
    private readonly payouts: Pick<PayoutPort, 'observe'>,
  ) {
    super(parts);
  }

  /** Before the first call the chain is asked once more: cheap beside points and tokens both going. */
  override async run(work: Work, partner: PartnerEntry): Promise<Applied> {
    const payout = committedPayout(work);
    const isFirst = work.stored.redemption.attempts.revert === 0;
    return (
      (payout && isFirst ? await this.paidAfterAll(work, payout) : undefined) ??
      super.run(work, partner)
    );
  }

  protected eventsOf(call: OpenCall, outcome: CallOutcome<'revert'>): OutcomeEvents {
    const eventIf = (which?: 'transaction' | 'revert') =>
      revertEvent(call, outcome, {
        transactionIdIsAnothers: which === 'transaction',
        revertIdIsAnothers: which === 'revert',
      });
    return { event: eventIf(), ifReused: eventIf };
  }

  private async paidAfterAll(work: Work, payout: CommittedPayout): Promise<Applied | undefined> {
    // The dead evidence stands already: a chain that does not answer now is no reason to keep the points.
    const [evidence] = await this.payouts.observe([payout]).catch(() => []);
    return evidence?.outcome === 'paid'
      ? this.parts.writer.apply(work, payoutEvent(payout.redemptionId, evidence, 0))
      : undefined;
  }
}

/** What was authorised for it; undefined where nothing was. */
export function committedPayout({ stored }: Pick<Work, 'stored'>): CommittedPayout | undefined {
  const { redemption, place } = stored;
  const { plan, id: redemptionId } = redemption;
  return plan !== null && place !== null ? { redemptionId, plan, place } : undefined;
}
