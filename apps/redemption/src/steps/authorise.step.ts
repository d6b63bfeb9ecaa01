import { LowmarkError } from '#libs/domain';
import { type Logger } from '#libs/platform';
import { type PayoutPort } from '../payout/payout-port.js';
import { type Applied, type TransitionWriter, type Work } from '../worker/transition-writer.js';

/** Commits the payout plan: `deducted`. The voucher is signed from the committed plan whenever its user asks for it. */
export class AuthoriseStep {
  constructor(
    private readonly writer: TransitionWriter,
    private readonly payouts: PayoutPort,
    private readonly logger: Logger,
  ) {}

  async authorise(work: Work): Promise<Applied> {
    const { redemption } = work.stored;
    if (redemption.lostVoucherUntilSeconds !== null) {
      return this.writer.apply(work, { type: 'plan-failed', detail: 'LEDGER_RESTORED' });
    }
    let planned;
    try {
      planned = await this.payouts.plan(redemption);
    } catch (error) {
      if (!(error instanceof LowmarkError)) throw error;
      this.logger.warn({ err: error, redemptionId: redemption.id }, 'No payout plan could be made');
      return this.writer.apply(work, { type: 'plan-failed', detail: error.code });
    }
    const { plan, place } = planned;
    return this.writer.apply(work, { type: 'plan-committed', plan }, { place });
  }
}
