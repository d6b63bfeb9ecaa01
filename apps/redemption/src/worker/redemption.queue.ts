/**
 * The redemptions that need a call or a plan. One of them is taken as far as it goes at once, from step to step under one lease; then
 * it waits for its time, or for the queue of payouts.
 */
import { StaleRedemptionError, type StoredRedemption } from '#libs/db';
import { needsEvidence, sendsNames } from '#libs/domain';
import { newRequestId } from '#libs/partner-client';
import { traced } from '../observe/trace-steps.js';
import { type PartnerEntry } from '../partner/partner-directory.js';
import { type AuthoriseStep } from '../steps/authorise.step.js';
import { type DeductStep } from '../steps/deduct.step.js';
import { type RevertStep } from '../steps/revert.step.js';
import { type EngineContext, type WorkQueue } from './engine.js';
import { type RedemptionLeases } from './redemption-leases.js';
import { type Applied, type TransitionWriter, type Work } from './transition-writer.js';

export interface RedemptionSteps {
  readonly deduct: DeductStep;
  readonly authorise: AuthoriseStep;
  readonly revert: RevertStep;
}

/** Where nothing can be done for it now, for a reason that is not its own. */
const LATER_MS = 30_000;

export class RedemptionQueue implements WorkQueue<StoredRedemption> {
  readonly name = 'redemptions';
  readonly atOnce: number;
  private stopping = false;

  constructor(
    private readonly leases: RedemptionLeases,
    private readonly writer: TransitionWriter,
    private readonly steps: RedemptionSteps,
    private readonly context: EngineContext,
  ) {
    this.atOnce = context.settings.atOnce;
  }

  /** Each redemption is given back after the step it is in. */
  stop(): void {
    this.stopping = true;
  }

  lease(count: number, owner: string): Promise<readonly StoredRedemption[]> {
    return this.leases.lease(count, owner, false);
  }

  async work([first]: readonly StoredRedemption[], owner: string): Promise<void> {
    if (first === undefined) return;
    let { work, partner } = await this.leases.workOn(first, owner);
    try {
      for (let leasedAt = performance.now(); ;) {
        const applied = await this.takeStep(work, partner);
        if (applied?.released === true) return;
        if (applied === undefined || applied.decision.kind === 'refused') {
          await this.setAside(work, applied);
          return;
        }
        ({ work } = applied);
        if (this.stopping) {
          await this.writer.release(work);
          return;
        }
        if (performance.now() - leasedAt > this.context.settings.leaseMs / 3) {
          await this.leases.renew(work);
          leasedAt = performance.now();
        }
        ({ work, partner } = await this.leases.workOn(work.stored, owner));
      }
    } catch (error) {
      // The user or an operator was faster: it is due, and read again.
      if (error instanceof StaleRedemptionError) await this.writer.release(work);
      throw error;
    }
  }

  /** @returns undefined where its partner is not there to be called */
  private async takeStep(
    work: Work,
    partner: PartnerEntry | undefined,
  ): Promise<Applied | undefined> {
    const { deduct, authorise, revert } = this.steps;
    const { redemption } = work.stored;
    if (isForeign(work.stored)) return this.writer.apply(work, { type: 'evidence-rejected' });
    switch (redemption.state) {
      case 'created':
      case 'deducting':
        return partner === undefined
          ? this.expire(work)
          : traced('deduct', work, () => deduct.deduct(work, partner));
      case 'deducted':
        return traced('authorise', work, () => authorise.authorise(work));
      case 'reverting':
        return partner && traced('revert', work, () => revert.revert(work, partner));
      case 'authorised':
      case 'attention':
      case 'claimed':
      case 'reverted':
      case 'failed':
        throw new TypeError(`a redemption that is ${redemption.state} is not in this queue`);
    }
  }

  /** What was never begun ends with its quote, whether or not its partner is there. */
  private async expire(work: Work): Promise<Applied | undefined> {
    const { clock } = this.context;
    const { state, quoteExpiresAtMs } = work.stored.redemption;
    if (state !== 'created' || clock.nowMs() < quoteExpiresAtMs) return undefined;
    return this.writer.apply(work, { type: 'call-due', requestId: newRequestId(clock) });
  }

  private async setAside(work: Work, applied: Applied | undefined): Promise<void> {
    const { clock, logger, alerts } = this.context;
    const { id: redemptionId, partner, state } = work.stored.redemption;
    if (applied === undefined) {
      alerts.raise({ severity: 'warning', code: 'partner-not-callable', redemptionId, partner });
    } else {
      logger.error({ redemptionId, state, decision: applied.decision }, 'A step was refused');
    }
    await this.writer.postpone(work, clock.nowMs() + LATER_MS);
  }
}

/** Its next step would rest on what the service did not write. */
function isForeign({ redemption, isSealed, namesAreOurs }: StoredRedemption): boolean {
  return needsEvidence(redemption)
    ? isSealed !== true
    : sendsNames(redemption) && namesAreOurs !== true;
}
