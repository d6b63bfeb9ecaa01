/**
 * The redemptions that need a call to the partner or a payout plan. A redemption is taken from step to step under one
 * lease while its next step is due; then it waits for its due time, or for the payout queue.
 */
import {
  type AttemptStore,
  ReservationRefusedError,
  RestoreNotNotedError,
  StaleRedemptionError,
  type StoredRedemption,
} from '#libs/db';
import {
  balanceEvent,
  LowmarkError,
  needsBalance,
  needsEvidence,
  sendsTransactionIds,
  smallestUnits,
} from '#libs/domain';
import { newRequestId } from '#libs/partner-client';
import { traced } from '../observe/trace-steps.js';
import { type PartnerEntry, type PointsService } from '../partner/partners.js';
import { type VaultConditions } from '../payout/vault-conditions.js';
import { type VoucherPayout } from '../payout/voucher-payout.js';
import { type EngineContext, type WorkQueue } from './engine.js';
import {
  type ApplyResult,
  type CallGrounds,
  type LeasedRedemptions,
  type LeasedWork,
} from './leased-redemptions.js';
import { type RevertStep } from './revert.step.js';

/** Milliseconds until the next try where the partner cannot be called, or a step was refused. */
const LATER_MS = 30_000;

export class RedemptionQueue implements WorkQueue<StoredRedemption> {
  readonly name = 'redemptions';
  readonly atOnce: number;
  private stopping = false;

  constructor(
    private readonly leased: LeasedRedemptions,
    private readonly attempts: AttemptStore,
    private readonly points: PointsService,
    private readonly conditions: VaultConditions,
    private readonly payouts: VoucherPayout,
    private readonly reverting: RevertStep,
    private readonly context: EngineContext,
  ) {
    this.atOnce = context.settings.atOnce;
  }

  /** Gives each redemption back after its current step. */
  stop(): void {
    this.stopping = true;
  }

  lease(count: number, owner: string): Promise<readonly StoredRedemption[]> {
    return this.leased.lease(count, owner);
  }

  async work([first]: readonly StoredRedemption[], owner: string): Promise<void> {
    if (first === undefined) return;
    const { leased } = this;
    let work = await leased.workOn(first, owner);
    try {
      for (;;) {
        const applied = await this.takeStep(work);
        if (applied?.released === true) return;
        if (applied === undefined || applied.decision.kind === 'refused') {
          await this.setAside(work, applied);
          return;
        }
        ({ work } = applied);
        if (this.stopping) {
          await leased.release(work);
          return;
        }
        const { stored, leasedAt } = await leased.keep(work);
        work = await leased.workOn(stored, owner, leasedAt);
      }
    } catch (error) {
      // The user or an operator wrote the row first, or the ledger went back. The redemption is still due, and is read
      // again.
      if (error instanceof StaleRedemptionError || error instanceof RestoreNotNotedError) {
        await leased.release(work);
      }
      throw error;
    }
  }

  /** @returns undefined where the step needs a partner that cannot be called */
  private async takeStep(work: LeasedWork): Promise<ApplyResult | undefined> {
    const { stored, partner } = work;
    const { state } = stored.redemption;
    if (isForeign(stored)) return this.leased.apply(work, { type: 'evidence-rejected' });
    switch (state) {
      case 'created':
      case 'deducting':
        return partner === undefined
          ? this.expire(work)
          : traced('deduct', work, () => this.deduct(work, partner));
      case 'deducted':
        return traced('authorise', work, () => this.authorise(work));
      case 'reverting':
        return partner && traced('revert', work, () => this.reverting.revert(work, partner));
      case 'authorised':
      case 'attention':
      case 'claimed':
      case 'reverted':
      case 'failed':
        throw new TypeError(`a redemption that is ${state} is not in this queue`);
    }
  }

  /**
   * Takes the points, in the states `created` and `deducting`. A wallet that lacks the points, or that the partner does
   * not know, has to wait before its next redemption.
   */
  private async deduct(work: LeasedWork, partner: PartnerEntry): Promise<ApplyResult> {
    const applied = await this.readAndCall(work, partner);
    const { wallet, state, reason } = applied.work.stored.redemption;
    if (state === 'failed' && (reason === 'insufficient-points' || reason === 'user-not-found')) {
      await this.attempts.note(wallet, this.context.clock.nowMs());
    }
    return applied;
  }

  /**
   * Reads the balance before the first call (rule D). A crash between the two leaves a redemption to which nothing has
   * happened.
   */
  private async readAndCall(work: LeasedWork, partner: PartnerEntry): Promise<ApplyResult> {
    const { redemption } = work.stored;
    if (!needsBalance(redemption, this.context.clock.nowMs())) {
      return this.reserveAndCall(work, partner);
    }
    const event = balanceEvent(redemption, await this.points.ask(partner, redemption.wallet));
    return event === undefined
      ? this.reserveAndCall(await this.leased.keep(work), partner)
      : this.leased.apply(work, event);
  }

  /**
   * Reserves the tokens, of the vault and of the budgets, in the statement that stores the first call. Where they
   * cannot be reserved, no points are taken and the redemption fails.
   */
  private async reserveAndCall(work: LeasedWork, partner: PartnerEntry): Promise<ApplyResult> {
    const { leased } = this;
    if (work.stored.redemption.state !== 'created') return leased.callPartner(work, partner);
    try {
      return await leased.callPartner(work, partner, await this.reservation(work, partner));
    } catch (error) {
      if (!(error instanceof ReservationRefusedError)) throw error;
      return leased.apply(work, { type: 'cancel', by: 'system', because: error.reason });
    }
  }

  private async reservation(
    { stored }: LeasedWork,
    { callback }: PartnerEntry,
  ): Promise<CallGrounds> {
    const { walletDailyTokenBudget: ofWallet } = this.context.settings;
    const { tokenAmount, tokenDecimals } = stored.redemption;
    const { dailyTokenBudget: ofPartner } = callback;
    return {
      reserve: {
        room: await this.conditions.room(tokenAmount),
        partnerDailyTokens: ofPartner && smallestUnits(ofPartner, tokenDecimals),
        walletDailyTokens: ofWallet && smallestUnits(ofWallet, tokenDecimals),
      },
    };
  }

  /**
   * Commits the payout plan, in state `deducted`. The voucher is signed from the committed plan whenever its user asks
   * for it.
   */
  private async authorise(work: LeasedWork): Promise<ApplyResult> {
    const { leased } = this;
    const { redemption } = work.stored;
    if (redemption.lostVoucherUntilSeconds !== null) {
      return leased.apply(work, { type: 'plan-failed' });
    }
    let planned;
    try {
      planned = await this.payouts.plan(redemption);
    } catch (error) {
      if (!(error instanceof LowmarkError)) throw error;
      const { id: redemptionId } = redemption;
      this.context.logger.warn({ err: error, redemptionId }, 'No payout plan could be made');
      return leased.apply(work, { type: 'plan-failed' });
    }
    const { plan, place } = planned;
    return leased.apply(work, { type: 'plan-committed', plan }, { place });
  }

  /** Fails a redemption that was never begun once its quote has expired, which needs no partner. */
  private async expire(work: LeasedWork): Promise<ApplyResult | undefined> {
    const { clock } = this.context;
    const { state, quoteExpiresAtMs } = work.stored.redemption;
    if (state !== 'created' || clock.nowMs() < quoteExpiresAtMs) return undefined;
    return this.leased.apply(work, { type: 'call-due', requestId: newRequestId(clock) });
  }

  private async setAside(work: LeasedWork, applied: ApplyResult | undefined): Promise<void> {
    const { clock, logger, alerts } = this.context;
    const { id: redemptionId, partner, state } = work.stored.redemption;
    if (applied === undefined) {
      alerts.raise({ severity: 'warning', code: 'partner-not-callable', redemptionId, partner });
    } else {
      logger.error({ redemptionId, state, decision: applied.decision }, 'A step was refused');
    }
    await this.leased.postpone(work, clock.nowMs() + LATER_MS);
  }
}

/** Whether the next step would rest on row contents that do not bear the service's MAC. */
function isForeign({ redemption, isSealed, namesAreOurs }: StoredRedemption): boolean {
  return needsEvidence(redemption)
    ? isSealed !== true
    : sendsTransactionIds(redemption) && namesAreOurs !== true;
}
