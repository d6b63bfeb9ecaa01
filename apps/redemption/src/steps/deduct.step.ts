import { type AttemptStore, ReservationRefusedError } from '#libs/db';
import { type CallOutcome, type Decimal, deductEvent, type OpenCall } from '#libs/domain';
import { type PartnerEntry } from '../partner/partner-directory.js';
import { type PayoutPort } from '../payout/payout-port.js';
import { smallestUnits } from '../payout/smallest-units.js';
import { type Applied, type EventNotes, type Work } from '../worker/transition-writer.js';
import { BookingCall, type BookingParts, type OutcomeEvents } from './booking.step.js';

export interface DeductParts extends BookingParts {
  readonly payouts: Pick<PayoutPort, 'room'>;
  readonly attempts: Pick<AttemptStore, 'note'>;
  /** Whole tokens per UTC day; absent: not limited. */
  readonly walletDailyTokenBudget?: Decimal | undefined;
}

/**
 * Takes the points: `created` and `deducting`. What the points are worth is reserved of the vault and of the budgets with the row of the
 * first call; where it cannot be, nothing is taken and the redemption has failed.
 */
export class DeductStep extends BookingCall<'deduct'> {
  protected readonly step = 'deduct';

  constructor(private readonly deductParts: DeductParts) {
    super(deductParts);
  }

  override async run(work: Work, partner: PartnerEntry): Promise<Applied> {
    const applied = await this.deduct(work, partner);
    const { wallet, state, reason } = applied.work.stored.redemption;
    if (state === 'failed' && (reason === 'insufficient-points' || reason === 'user-not-found')) {
      await this.deductParts.attempts.note(wallet, this.parts.clock.nowMs());
    }
    return applied;
  }

  private async deduct(work: Work, partner: PartnerEntry): Promise<Applied> {
    if (work.stored.redemption.state !== 'created') return super.run(work, partner);
    try {
      return await this.begin(work, partner, {}, await this.reservation(work, partner));
    } catch (error) {
      if (!(error instanceof ReservationRefusedError)) throw error;
      const { reason: because } = error;
      return this.parts.writer.apply(work, { type: 'cancel', by: 'system', because });
    }
  }

  protected eventsOf(call: OpenCall, outcome: CallOutcome<'deduct'>): OutcomeEvents {
    return {
      event: deductEvent(call, outcome),
      ifReused: (which) => deductEvent(call, outcome, which),
    };
  }

  private async reservation(
    { stored }: Work,
    { callback }: PartnerEntry,
  ): Promise<Pick<EventNotes, 'reserve'>> {
    const { payouts, walletDailyTokenBudget: ofWallet } = this.deductParts;
    const { tokenAmount, tokenDecimals } = stored.redemption;
    const { dailyTokenBudget: ofPartner } = callback;
    return {
      reserve: {
        room: await payouts.room(tokenAmount),
        partnerDailyTokens: ofPartner && smallestUnits(ofPartner, tokenDecimals),
        walletDailyTokens: ofWallet && smallestUnits(ofWallet, tokenDecimals),
      },
    };
  }
}
