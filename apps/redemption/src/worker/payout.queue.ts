/**
 * Polls the chain for authorised payouts, many at once. One statement takes the payouts that are due and moves their due
 * time on, so a payout that is still open needs no other write. What was observed is written under a lease.
 */
import { StaleRedemptionError, type StoredRedemption } from '#libs/db';
import { LowmarkError, payoutEvent, type PayoutEvidence } from '#libs/domain';
import { HourlyAlerts } from '../observe/hourly-alerts.js';
import { tracedAs } from '../observe/trace-steps.js';
import { type CommittedPayout, committedPayout } from '../payout/payout.js';
import { type VoucherPayout } from '../payout/voucher-payout.js';
import { type EngineContext, type WorkQueue } from './engine.js';
import { type LeasedRedemptions, type LeasedWork } from './leased-redemptions.js';

/** Payouts per poll of the chain. */
const PAYOUTS_PER_POLL = 50;
/** Polls at the same time. */
const CONCURRENT_POLLS = 4;
/**
 * Milliseconds until a payout with contradictory evidence is polled again: longer than for other payouts, since each
 * contradiction writes a transition and raises an alert.
 */
export const CONTRADICTION_RECHECK_MS = 60_000;

interface Watched {
  readonly work: LeasedWork;
  readonly payout: CommittedPayout;
}

/** Redemptions in state `authorised`: their tokens may move at any moment. */
export class PayoutQueue implements WorkQueue<StoredRedemption> {
  readonly name = 'payouts';
  readonly batchSize = PAYOUTS_PER_POLL;
  readonly atOnce = CONCURRENT_POLLS * PAYOUTS_PER_POLL;
  private readonly alerts: HourlyAlerts;

  constructor(
    private readonly leased: LeasedRedemptions,
    private readonly payouts: VoucherPayout,
    private readonly context: EngineContext,
  ) {
    this.alerts = new HourlyAlerts(context.alerts, context.clock);
  }

  lease(count: number): Promise<readonly StoredRedemption[]> {
    return this.leased.takePayouts(count, this.context.settings.payoutPollMs);
  }

  async work(items: readonly StoredRedemption[], owner: string): Promise<void> {
    const works: LeasedWork[] = [];
    for (const stored of items) works.push(await this.leased.workOn(stored, owner));
    const ids = items.map(({ redemption }) => redemption.id);
    await tracedAs('observe', { 'lowmark.redemption_ids': ids }, () => this.observe(works));
  }

  private async observe(works: readonly LeasedWork[]): Promise<void> {
    const watched = works.flatMap((work): Watched[] => {
      const payout = committedPayout(work.stored);
      return payout === undefined ? [] : [{ work, payout }];
    });
    const evidence = await this.askVault(watched);
    for (const [index, one] of watched.entries()) {
      const found = evidence[index] ?? { outcome: 'live' };
      this.alertWithoutMac(one);
      if (found.outcome === 'live') this.cancelWhereWanted(one);
      await this.settle(one, found);
    }
  }

  /**
   * Alerts where the row does not bear our MAC. No voucher of such a row is signed, so its payout ends as unclaimed.
   */
  private alertWithoutMac({ work, payout: { redemptionId } }: Watched): void {
    if (work.stored.isSealed === true) return;
    const { partner } = work.stored.redemption;
    const code = 'evidence-invalid';
    this.alerts.raise({ severity: 'critical', code, redemptionId, partner }, redemptionId);
  }

  /** Where the chain cannot be asked, all payouts stay open; the domain limits for how long. */
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

  private async settle({ work, payout }: Watched, found: PayoutEvidence): Promise<void> {
    const { logger, settings } = this.context;
    const { redemptionId } = payout;
    const doubt = found.outcome === 'live' ? found.doubt : undefined;
    const isContradiction = doubt?.kind === 'contradiction';
    // A disagreement about the final blocks concerns all payouts; the observer of the RPC pool reports it once for all.
    if (doubt !== undefined && doubt.kind !== 'disagreement') {
      logger.warn({ redemptionId, doubt }, 'The end of a payout is doubtful');
    }
    const recheckMs = isContradiction ? CONTRADICTION_RECHECK_MS : settings.payoutPollMs;
    const event = payoutEvent(redemptionId, found, recheckMs);
    const decision = this.leased.decide(work, event);
    if (decision.kind === 'refused') {
      logger.error({ redemptionId, refusal: decision.code }, 'Evidence refused');
      return;
    }
    // The payout is still open: nothing was learnt.
    if (decision.next.state === 'authorised' && !isContradiction) return;
    if (!(await this.leased.leasePayout(work))) {
      logger.info({ redemptionId }, 'The redemption has changed since it was taken');
      return;
    }
    try {
      await this.leased.write(work, event, decision);
    } catch (error) {
      // The user or an operator wrote the row first. This redemption is released and read again; the others go on.
      if (!(error instanceof StaleRedemptionError)) throw error;
      logger.info({ redemptionId, code: error.code }, error.message);
      await this.leased.release(work);
    }
  }

  /**
   * Asks the vault to cancel where the row has a revert reason; asking again is harmless. A row without our MAC could
   * name any contract, and the service would pay the gas for calling it.
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
