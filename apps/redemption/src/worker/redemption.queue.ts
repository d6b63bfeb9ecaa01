/**
 * The redemptions that need a call or a plan. One of them is taken as far as it goes at once, from step to step under one lease; then
 * it waits for its time, or for the queue of payouts.
 */
import { type RedemptionStore, StaleRedemptionError, type StoredRedemption } from '#libs/db';
import { needsEvidence, type Redemption, sendsNames } from '#libs/domain';
import { newRequestId } from '#libs/partner-client';
import { type Clock, type Logger } from '#libs/platform';
import { type Alerts } from '../observe/alerts.js';
import { type PartnerDirectory } from '../partner/partner-directory.js';
import { type AuthoriseStep } from '../steps/authorise.step.js';
import { type DeductStep } from '../steps/deduct.step.js';
import { type RevertStep } from '../steps/revert.step.js';
import { alertUnreadable } from './alert-unreadable.js';
import { type WorkQueue } from './queue-pump.js';
import { type Applied, type TransitionWriter, type Work } from './transition-writer.js';
import { UNKNOWN_PARTNER } from './unknown-partner.js';

export interface RedemptionQueueParts {
  readonly store: Pick<RedemptionStore, 'lease' | 'renew' | 'release' | 'postpone'>;
  readonly directory: Pick<PartnerDirectory, 'find'>;
  readonly writer: TransitionWriter;
  readonly deduct: DeductStep;
  readonly authorise: AuthoriseStep;
  readonly revert: RevertStep;
  readonly alerts: Alerts;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Where nothing can be done for it now, for a reason that is not its own. */
const LATER_MS = 30_000;

export class RedemptionQueue implements WorkQueue<StoredRedemption> {
  readonly name = 'redemptions';
  private stopping = false;

  constructor(
    private readonly parts: RedemptionQueueParts,
    readonly atOnce: number,
    private readonly leaseMs: number,
  ) {}

  /** Each redemption is given back after the step it is in. */
  stop(): void {
    this.stopping = true;
  }

  lease(count: number, owner: string): Promise<readonly StoredRedemption[]> {
    const { store, clock, alerts } = this.parts;
    return store.lease({
      ...{ count, owner, leaseMs: this.leaseMs, dueByMs: clock.nowMs(), authorised: false },
      onUnreadable: alertUnreadable(alerts),
    });
  }

  async work([stored]: readonly StoredRedemption[], owner: string): Promise<void> {
    if (stored === undefined) return;
    const { id } = stored.redemption;
    try {
      await this.goOn(stored, owner);
    } catch (error) {
      // The user or an operator was faster: it is due, and read again.
      if (error instanceof StaleRedemptionError) await this.parts.store.release(id, owner);
      throw error;
    }
  }

  private async goOn(first: StoredRedemption, owner: string): Promise<void> {
    const { store } = this.parts;
    let leasedAt = performance.now();
    for (let stored = first; ;) {
      const { redemption } = stored;
      const applied = await this.step(stored, owner);
      if (applied?.released === true) return;
      if (applied === undefined || applied.decision.kind === 'refused') {
        await this.later(redemption, owner, applied);
        return;
      }
      if (this.stopping) {
        await store.release(redemption.id, owner);
        return;
      }
      stored = applied.work.stored;
      if (performance.now() - leasedAt > this.leaseMs / 3) {
        await store.renew(redemption.id, owner, this.leaseMs);
        leasedAt = performance.now();
      }
    }
  }

  /** @returns undefined where its partner is not there to be called */
  private async step(stored: StoredRedemption, owner: string): Promise<Applied | undefined> {
    const { deduct, authorise, revert, directory } = this.parts;
    const { redemption } = stored;
    const partner = await directory.find(redemption.partner);
    const work: Work = { stored, owner, policy: partner?.policy ?? UNKNOWN_PARTNER };
    if (isForeign(stored)) {
      return this.parts.writer.apply(work, { type: 'evidence-rejected' });
    }
    switch (redemption.state) {
      case 'created':
      case 'deducting':
        return partner === undefined ? this.expire(work) : deduct.run(work, partner);
      case 'deducted':
        return authorise.run(work);
      case 'reverting':
        return partner && revert.run(work, partner);
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
    const { writer, clock } = this.parts;
    const { state, quoteExpiresAtMs } = work.stored.redemption;
    if (state !== 'created' || clock.nowMs() < quoteExpiresAtMs) return undefined;
    return writer.apply(work, { type: 'call-due', requestId: newRequestId(clock) });
  }

  private async later(
    redemption: Redemption,
    owner: string,
    applied: Applied | undefined,
  ): Promise<void> {
    const { store, clock, logger, alerts } = this.parts;
    const { id: redemptionId, partner, state } = redemption;
    if (applied === undefined) {
      alerts.raise({ severity: 'warning', code: 'partner-not-callable', redemptionId, partner });
    } else {
      logger.error({ redemptionId, state, decision: applied.decision }, 'A step was refused');
    }
    await store.postpone([redemption], owner, clock.nowMs() + LATER_MS);
  }
}

/** Its next step would rest on what the service did not write. */
function isForeign({ redemption, isSealed, namesAreOurs }: StoredRedemption): boolean {
  return needsEvidence(redemption)
    ? isSealed !== true
    : sendsNames(redemption) && namesAreOurs !== true;
}
