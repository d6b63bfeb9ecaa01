import { type StoredRedemption } from '#libs/db';
import { LowmarkError } from '#libs/domain';
import { type Clock, type Logger } from '#libs/platform';
import { type PartnerDirectory } from '../partner/partner-directory.js';
import { type PayoutPort, type Voucher } from '../payout/payout-port.js';
import { isCancelRequested, type RedemptionBody, redemptionBody } from './redemption-body.js';

/** Redemptions as their users see them: with the partner's name and, while it can be claimed, the voucher. */
export class RedemptionPresenter {
  constructor(
    private readonly directory: PartnerDirectory,
    private readonly payouts: Pick<PayoutPort, 'authorise'>,
    private readonly logger: Logger,
    private readonly clock: Clock,
  ) {}

  async present(stored: StoredRedemption): Promise<RedemptionBody> {
    const { redemption } = stored;
    const entry = await this.directory.find(redemption.partner);
    const { partner: id } = redemption;
    // A partner whose callback cannot be used now has no name here.
    const partner = { id, name: entry?.callback.partnerName ?? id };
    return redemptionBody(redemption, partner, await this.voucherOf(stored));
  }

  /** None after its deadline: a claim would cost gas and pay nothing. Where it cannot be signed (the vault was replaced, say), the rest is shown: it expires, and the points go back. */
  private async voucherOf({ redemption, place }: StoredRedemption): Promise<Voucher | undefined> {
    const { id: redemptionId, state, plan } = redemption;
    if (state !== 'authorised' || isCancelRequested(redemption)) return undefined;
    if (plan === null || place === null) return undefined;
    if (plan.deadlineSeconds * 1000 < this.clock.nowMs()) return undefined;
    try {
      return await this.payouts.authorise({ redemptionId, plan, place });
    } catch (error) {
      if (!(error instanceof LowmarkError)) throw error;
      this.logger.error({ err: error, redemptionId }, 'A voucher could not be signed');
      return undefined;
    }
  }
}
