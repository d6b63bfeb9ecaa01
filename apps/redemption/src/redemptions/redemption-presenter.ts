import { Inject, Injectable } from '@nestjs/common';
import { RestoreNotNotedError, type StoredRedemption } from '#libs/db';
import { LowmarkError } from '#libs/domain';
import { CLOCK, type Clock, type Logger } from '#libs/platform';
import { LOGGER } from '#libs/service';
import { ChainFacts } from '../chain/chain-facts.js';
import { Alerts } from '../observe/alerts.js';
import { HourlyAlerts } from '../observe/hourly-alerts.js';
import { PartnerDirectory } from '../partner/partners.js';
import { type Voucher } from '../payout/payout.js';
import { VoucherPayout } from '../payout/voucher-payout.js';
import {
  isCancelRequested,
  type RedemptionBody,
  redemptionBody,
  type RedemptionsBody,
} from './redemption.dto.js';

/** Presents redemptions to their users: with the partner's name and, while it can be claimed, the voucher. */
@Injectable()
export class RedemptionPresenter {
  private readonly alerts: HourlyAlerts;

  constructor(
    private readonly directory: PartnerDirectory,
    private readonly payouts: VoucherPayout,
    private readonly chain: ChainFacts,
    alerts: Alerts,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.alerts = new HourlyAlerts(alerts, clock);
  }

  async present(stored: StoredRedemption): Promise<RedemptionBody> {
    const { redemption } = stored;
    const entry = await this.directory.find(redemption.partner);
    const { partner: id } = redemption;
    // A partner whose callback cannot be used now is shown by its id.
    const partner = { id, name: entry?.callback.partnerName ?? id };
    const voucher = await this.voucherOf(stored);
    const returnSeconds =
      redemption.state === 'authorised' ? await this.chain.returnSeconds() : undefined;
    return redemptionBody(redemption, { partner, voucher, returnSeconds });
  }

  /** @param found redemptions of the page, and one more where there is a next page */
  async presentPage(found: readonly StoredRedemption[], limit: number): Promise<RedemptionsBody> {
    const page = found.slice(0, limit);
    const redemptions = await Promise.all(page.map((one) => this.present(one)));
    return { redemptions, next: found.length > limit ? (redemptions.at(-1)?.id ?? null) : null };
  }

  /**
   * No voucher is given after its deadline: a claim would cost gas and pay nothing. Where a voucher cannot be signed,
   * for example because the vault was replaced, the redemption is shown without it; the voucher expires, and the points
   * go back.
   */
  private async voucherOf(stored: StoredRedemption): Promise<Voucher | undefined> {
    const { payouts, clock, alerts, logger } = this;
    const { redemption, place, isSealed } = stored;
    const { id: redemptionId, state, plan } = redemption;
    if (state !== 'authorised' || isCancelRequested(redemption)) return undefined;
    if (plan === null || place === null) return undefined;
    if (plan.deadlineSeconds * 1000 < clock.nowMs()) return undefined;
    if (isSealed !== true) {
      const { partner } = redemption;
      const code = 'evidence-invalid';
      alerts.raise({ severity: 'critical', code, redemptionId, partner }, redemptionId);
      return undefined;
    }
    try {
      return await payouts.authorise({ redemptionId, plan, place, isSealed });
    } catch (error) {
      // An alert tells of it already.
      if (error instanceof RestoreNotNotedError) return undefined;
      if (!(error instanceof LowmarkError)) throw error;
      logger.error({ err: error, redemptionId }, 'A voucher could not be signed');
      return undefined;
    }
  }
}
