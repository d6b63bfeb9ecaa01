import { type AttemptStore, ReservationRefusedError } from '#libs/db';
import { type PartnerEntry } from '../partner/partner-directory.js';
import { type PayoutPort } from '../payout/payout-port.js';
import { smallestUnits } from '../payout/smallest-units.js';
import { type EngineContext } from '../worker/engine.js';
import { type Applied, type Work } from '../worker/transition-writer.js';
import { type BookedCalls, type Booking } from './partner-caller.js';

/**
 * Takes the points: `created` and `deducting`. What the points are worth is reserved of the vault and of the budgets with the row of the
 * first call; where it cannot be, nothing is taken and the redemption has failed.
 */
export class DeductStep {
  constructor(
    private readonly calls: BookedCalls,
    private readonly payouts: PayoutPort,
    private readonly attempts: AttemptStore,
    private readonly context: EngineContext,
  ) {}

  async deduct(work: Work, partner: PartnerEntry): Promise<Applied> {
    const applied = await this.callPartner(work, partner);
    const { wallet, state, reason } = applied.work.stored.redemption;
    if (state === 'failed' && (reason === 'insufficient-points' || reason === 'user-not-found')) {
      await this.attempts.note(wallet, this.context.clock.nowMs());
    }
    return applied;
  }

  private async callPartner(work: Work, partner: PartnerEntry): Promise<Applied> {
    if (work.stored.redemption.state !== 'created') return this.calls.make(work, partner);
    try {
      return await this.calls.make(work, partner, await this.reservation(work, partner));
    } catch (error) {
      if (!(error instanceof ReservationRefusedError)) throw error;
      const { reason: because } = error;
      return this.calls.writer.apply(work, { type: 'cancel', by: 'system', because });
    }
  }

  private async reservation({ stored }: Work, { callback }: PartnerEntry): Promise<Booking> {
    const { walletDailyTokenBudget: ofWallet } = this.context.settings;
    const { tokenAmount, tokenDecimals } = stored.redemption;
    const { dailyTokenBudget: ofPartner } = callback;
    return {
      reserve: {
        room: await this.payouts.room(tokenAmount),
        partnerDailyTokens: ofPartner && smallestUnits(ofPartner, tokenDecimals),
        walletDailyTokens: ofWallet && smallestUnits(ofWallet, tokenDecimals),
      },
    };
  }
}
