import { LowmarkError } from '#libs/domain';
import { type Logger } from '#libs/platform';
import { type PayoutPort } from '../payout/payout-port.js';
import { type Applied, type TransitionWriter, type Work } from '../worker/transition-writer.js';

/** Commits the payout plan: `deducted`. The voucher is signed from the committed plan whenever somebody asks for it. */
export class AuthoriseStep {
  constructor(
    private readonly parts: {
      readonly writer: TransitionWriter;
      readonly payouts: Pick<PayoutPort, 'plan'>;
      readonly logger: Logger;
    },
  ) {}

  async run(work: Work): Promise<Applied> {
    const { writer, payouts, logger } = this.parts;
    const { redemption } = work.stored;
    if (redemption.lostVoucherUntilSeconds !== null) {
      return writer.apply(work, { type: 'plan-failed', detail: 'LEDGER_RESTORED' });
    }
    let planned;
    try {
      planned = await payouts.plan(redemption);
    } catch (error) {
      if (!(error instanceof LowmarkError)) throw error;
      logger.warn({ err: error, redemptionId: redemption.id }, 'No payout plan could be made');
      return writer.apply(work, { type: 'plan-failed', detail: error.code });
    }
    const { plan, place } = planned;
    return writer.apply(work, { type: 'plan-committed', plan }, { place });
  }
}
