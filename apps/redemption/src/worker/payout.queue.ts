/** Looks at what became of authorised payouts, many at once: `authorised`. What is still open is only looked at later, not written. */
import { StaleRedemptionError, type StoredRedemption } from '#libs/db';
import { LowmarkError, payoutEvent, type PayoutEvidence } from '#libs/domain';
import { tracedAs } from '../observe/trace-steps.js';
import { type CommittedPayout, committedPayout } from '../payout/payout.js';
import { type VoucherPayout } from '../payout/voucher-payout.js';
import { type EngineContext, type WorkQueue } from './engine.js';
import { type LeasedRedemptions, type Work } from './leased-redemptions.js';

/** One look at the chain serves so many payouts. */
const TOGETHER = 50;
/** Looks at once. */
const LOOKS = 4;
/** What cannot all be true becomes a transition and an alert each time: not as often as the rest. */
export const CONTRADICTION_RECHECK_MS = 60_000;

interface Watched {
  readonly work: Work;
  readonly payout: CommittedPayout;
}

/** The redemptions whose tokens may move at any moment. */
export class PayoutQueue implements WorkQueue<StoredRedemption> {
  readonly name = 'payouts';
  readonly together = TOGETHER;
  readonly atOnce = LOOKS * TOGETHER;

  constructor(
    private readonly leased: LeasedRedemptions,
    private readonly payouts: VoucherPayout,
    private readonly context: EngineContext,
  ) {}

  lease(count: number, owner: string): Promise<readonly StoredRedemption[]> {
    return this.leased.lease(count, owner, true);
  }

  async work(items: readonly StoredRedemption[], owner: string): Promise<void> {
    const works: Work[] = [];
    for (const stored of items) works.push(await this.leased.workOn(stored, owner));
    const ids = items.map(({ redemption }) => redemption.id);
    await tracedAs('observe', { 'lowmark.redemption_ids': ids }, () => this.observe(works));
  }

  /** @param works all of one lease */
  private async observe(works: readonly Work[]): Promise<void> {
    const watched = works.flatMap((work): Watched[] => {
      const payout = committedPayout(work.stored);
      return payout === undefined ? [] : [{ work, payout }];
    });
    const evidence = await this.askVault(watched);
    const open: Work[] = [];
    for (const [index, one] of watched.entries()) {
      const found = evidence[index] ?? { outcome: 'live' };
      this.alertWhereForeign(one);
      if (found.outcome === 'live') this.cancelWhereWanted(one);
      if (!(await this.settle(one, found))) open.push(one.work);
    }
    const { clock, settings } = this.context;
    await this.leased.postponeAll(open, clock.nowMs() + settings.payoutPollMs);
  }

  /** It is never signed, so it ends as a voucher that was not claimed; a person has to know. */
  private alertWhereForeign({ work, payout: { redemptionId } }: Watched): void {
    if (work.stored.isSealed === true) return;
    const { partner } = work.stored.redemption;
    const code = 'evidence-invalid';
    this.context.alerts.raise({ severity: 'critical', code, redemptionId, partner });
  }

  /** Where the chain cannot be asked all of them stay open; how long that may go on is the domain's to say. */
  private async askVault(watched: readonly Watched[]): Promise<readonly PayoutEvidence[]> {
    try {
      return await this.payouts.observe(watched.map(({ payout }) => payout));
    } catch (error) {
      if (!(error instanceof LowmarkError)) throw error;
      const payouts = watched.length;
      this.context.logger.warn({ err: error, payouts }, 'The chain cannot be asked');
      return [];
    }
  }

  /** @returns false where it is to be looked at again later */
  private async settle({ work, payout }: Watched, found: PayoutEvidence): Promise<boolean> {
    const { metrics, logger, settings } = this.context;
    const { redemptionId } = payout;
    const doubt = found.outcome === 'live' ? found.doubt : undefined;
    const isContradiction = doubt?.kind === 'contradiction';
    if (doubt?.kind === 'unconfirmed') metrics.endUnconfirmed();
    // What the endpoints say of the final blocks concerns all payouts, and is told once for all of them.
    if (doubt !== undefined && doubt.kind !== 'disagreement') {
      logger.warn({ redemptionId, doubt }, 'The end of a payout is doubtful');
    }
    const recheckMs = isContradiction ? CONTRADICTION_RECHECK_MS : settings.payoutPollMs;
    const event = payoutEvent(redemptionId, found, recheckMs);
    const decision = this.leased.decide(work, event);
    if (decision.kind === 'refused') {
      logger.error({ redemptionId, refusal: decision.code }, 'Evidence refused');
      return false;
    }
    // Nothing was learnt.
    if (decision.next.state === 'authorised' && !isContradiction) return false;
    try {
      await this.leased.write(work, event, decision);
    } catch (error) {
      // The user or an operator was faster: this one is read again, and the others are not held up.
      if (!(error instanceof StaleRedemptionError)) throw error;
      logger.info({ redemptionId, code: error.code }, error.message);
      await this.leased.release(work);
    }
    return true;
  }

  /**
   * The row says since when; asking the vault again is harmless. Without our MAC it could be any contract that the row names, and the
   * service would pay for what that does.
   */
  private cancelWhereWanted({ work, payout }: Watched): void {
    const { revertReason, usdAmount } = work.stored.redemption;
    if (revertReason === null || work.stored.isSealed !== true) return;
    try {
      this.payouts.requestCancel(payout, usdAmount);
    } catch (error) {
      if (!(error instanceof LowmarkError)) throw error;
      const { redemptionId } = payout;
      this.context.logger.warn({ err: error, redemptionId }, 'The vault was not asked to cancel');
    }
  }
}
