import { LowmarkError, mayAwaitPartner, payoutEvent, type PayoutEvidence } from '#libs/domain';
import { type PartnerEntry } from '../partner/partners.js';
import { committedPayout, type UnplannedEvidence } from '../payout/payout.js';
import { type VoucherPayout } from '../payout/voucher-payout.js';
import { type EngineContext } from './engine.js';
import { type Applied, type LeasedRedemptions, type Work } from './leased-redemptions.js';
import { CONTRADICTION_RECHECK_MS } from './payout.queue.js';

/** Until the vault is asked again of a payout that is not dead. */
const RECHECK_MS = 30_000;

/** Without the place where the chain was not asked. */
type Seen = Partial<UnplannedEvidence> & { readonly evidence: PayoutEvidence };

/** Gives the points back: `reverting`. */
export class RevertStep {
  constructor(
    private readonly leased: LeasedRedemptions,
    private readonly payouts: VoucherPayout,
    private readonly context: EngineContext,
  ) {}

  /**
   * The vault is asked before each call, whatever the row says: a row may be of an old ledger, or written by a stolen credential, and
   * asking is cheap beside points and tokens both going.
   */
  async revert(work: Work, partner: PartnerEntry): Promise<Applied> {
    const { leased } = this;
    const { redemption } = work.stored;
    if (redemption.openCall !== null) return leased.callPartner(work, partner);
    const nowMs = this.context.clock.nowMs();
    // A call that would be held back is not begun: it would leave rows, and say nothing.
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

  private async askVault({ stored }: Work): Promise<Seen> {
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

  /** What was not learnt is not written. */
  private async wait(
    work: Work,
    evidence: Extract<PayoutEvidence, { outcome: 'live' }>,
  ): Promise<Applied> {
    const { clock, logger } = this.context;
    const { id: redemptionId } = work.stored.redemption;
    const { doubt } = evidence;
    if (doubt !== undefined) logger.warn({ redemptionId, doubt }, 'The vault is in doubt');
    return doubt?.kind === 'contradiction'
      ? this.leased.apply(work, payoutEvent(redemptionId, evidence, CONTRADICTION_RECHECK_MS))
      : this.leased.postpone(work, clock.nowMs() + RECHECK_MS);
  }
}
