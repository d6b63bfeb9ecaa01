import { LowmarkError, mayAwaitPartner, payoutEvent, type PayoutEvidence } from '#libs/domain';
import { type PartnerEntry } from '../partner/partners.js';
import { committedPayout, type UnplannedEvidence } from '../payout/payout.js';
import { type VoucherPayout } from '../payout/voucher-payout.js';
import { type EngineContext } from './engine.js';
import { type ApplyResult, type LeasedRedemptions, type LeasedWork } from './leased-redemptions.js';
import { CONTRADICTION_RECHECK_MS } from './payout.queue.js';

/** Milliseconds until the vault is asked again about a payout that is not dead. */
const RECHECK_MS = 30_000;

/** Evidence; with its place where the vaults were searched for a redemption without a plan. */
type Seen = Partial<UnplannedEvidence> & { readonly evidence: PayoutEvidence };

/** Gives the points back, in state `reverting`. */
export class RevertStep {
  constructor(
    private readonly leased: LeasedRedemptions,
    private readonly payouts: VoucherPayout,
    private readonly context: EngineContext,
  ) {}

  /**
   * Asks the vault before each call, whatever the row says: the row may come from an old ledger, or from a stolen
   * credential. One more question to the vault costs little compared with giving away both points and tokens.
   */
  async revert(work: LeasedWork, partner: PartnerEntry): Promise<ApplyResult> {
    const { leased } = this;
    const { redemption } = work.stored;
    if (redemption.openCall !== null) return leased.callPartner(work, partner);
    const nowMs = this.context.clock.nowMs();
    // A call that the circuit breaker would hold back is not begun: it would leave rows that say nothing.
    const heldBackMs = leased.caller.heldBackMs(partner);
    if (heldBackMs !== undefined && mayAwaitPartner(redemption, nowMs)) {
      return leased.postpone(work, nowMs + Math.ceil(heldBackMs));
    }
    const { evidence, place } = await this.askVault(work);
    switch (evidence.outcome) {
      case 'dead':
        return leased.callPartner(work, partner, { neverPaid: evidence });
      case 'paid': {
        const event = payoutEvent(redemption.id, evidence, 0);
        return leased.apply(work, event, place && { place });
      }
      case 'live':
        return this.wait(work, evidence);
    }
  }

  private async askVault({ stored }: LeasedWork): Promise<Seen> {
    const payout = committedPayout(stored);
    try {
      if (payout === undefined) return await this.payouts.observeUnplanned(stored.redemption);
      const [evidence = { outcome: 'live' as const }] = await this.payouts.observe([payout]);
      return { evidence };
    } catch (error) {
      if (!(error instanceof LowmarkError)) throw error;
      const { id: redemptionId } = stored.redemption;
      this.context.logger.warn(
        { err: error, redemptionId },
        'The vault cannot be asked; points wait',
      );
      return { evidence: { outcome: 'live' } };
    }
  }

  /** Writes a transition for a contradiction only; otherwise just moves the due time. */
  private async wait(
    work: LeasedWork,
    evidence: Extract<PayoutEvidence, { outcome: 'live' }>,
  ): Promise<ApplyResult> {
    const { clock, logger } = this.context;
    const { id: redemptionId } = work.stored.redemption;
    const { doubt } = evidence;
    if (doubt !== undefined) logger.warn({ redemptionId, doubt }, 'The vault is in doubt');
    return doubt?.kind === 'contradiction'
      ? this.leased.apply(work, payoutEvent(redemptionId, evidence, CONTRADICTION_RECHECK_MS))
      : this.leased.postpone(work, clock.nowMs() + RECHECK_MS);
  }
}
