/** Looks at what became of authorised payouts, many at once: `authorised`. What is still open is only looked at later, not written. */
import { type RedemptionStore, StaleRedemptionError } from '#libs/db';
import { LowmarkError, type Moved, payoutEvent, type PayoutEvidence } from '#libs/domain';
import { type Clock, type Logger } from '#libs/platform';
import { type Alerts } from '../observe/alerts.js';
import { type EngineMetrics } from '../observe/engine-metrics.js';
import { type CommittedPayout, type PayoutPort } from '../payout/payout-port.js';
import { type TransitionWriter, type Work } from '../worker/transition-writer.js';
import { committedPayout } from './revert.step.js';

/** What cannot all be true becomes a transition and an alert each time: not as often as the rest. */
const CONTRADICTION_RECHECK_MS = 60_000;

export interface ObserveParts {
  readonly writer: TransitionWriter;
  readonly store: Pick<RedemptionStore, 'postpone' | 'release'>;
  readonly payouts: Pick<PayoutPort, 'observe' | 'requestCancel'>;
  readonly metrics: EngineMetrics;
  readonly alerts: Alerts;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly payoutPollMs: number;
}

interface Watched {
  readonly work: Work;
  readonly payout: CommittedPayout;
}

export class ObserveStep {
  constructor(private readonly parts: ObserveParts) {}

  /** @param works all of one lease */
  async run(works: readonly Work[]): Promise<void> {
    const watched = works.flatMap((work): Watched[] => {
      const payout = committedPayout(work);
      return payout === undefined ? [] : [{ work, payout }];
    });
    const evidence = await this.observe(watched);
    const open: Work[] = [];
    for (const [index, one] of watched.entries()) {
      const found = evidence[index] ?? { outcome: 'live' };
      this.alertWhereForeign(one);
      if (found.outcome === 'live') this.cancelWhereWanted(one);
      if (!(await this.settle(one, found))) open.push(one.work);
    }
    const [first] = open;
    if (first === undefined) return;
    await this.parts.store.postpone(
      open.map(({ stored }) => stored.redemption),
      first.owner,
      this.parts.clock.nowMs() + this.parts.payoutPollMs,
    );
  }

  /** It is never signed, so it ends as a voucher that was not claimed; a person has to know. */
  private alertWhereForeign({ work, payout: { redemptionId } }: Watched): void {
    if (work.stored.isSealed === true) return;
    const { partner } = work.stored.redemption;
    const code = 'evidence-invalid';
    this.parts.alerts.raise({ severity: 'critical', code, redemptionId, partner });
  }

  /** Where the chain cannot be asked all of them stay open; how long that may go on is the domain's to say. */
  private async observe(watched: readonly Watched[]): Promise<readonly PayoutEvidence[]> {
    try {
      return await this.parts.payouts.observe(watched.map(({ payout }) => payout));
    } catch (error) {
      if (!(error instanceof LowmarkError)) throw error;
      this.parts.logger.warn({ err: error, payouts: watched.length }, 'The chain cannot be asked');
      return [];
    }
  }

  /** @returns false where it is to be looked at again later */
  private async settle({ work, payout }: Watched, found: PayoutEvidence): Promise<boolean> {
    const { writer, metrics, payoutPollMs, logger } = this.parts;
    const doubt = found.outcome === 'live' ? found.doubt : undefined;
    if (doubt?.kind === 'unconfirmed') metrics.endUnconfirmed();
    // What the endpoints say of the final blocks concerns all payouts, and is told once for all of them.
    if (doubt !== undefined && doubt.kind !== 'disagreement') {
      logger.warn({ redemptionId: payout.redemptionId, doubt }, 'The end of a payout is doubtful');
    }
    const recheckMs = doubt?.kind === 'contradiction' ? CONTRADICTION_RECHECK_MS : payoutPollMs;
    const event = payoutEvent(payout.redemptionId, found, recheckMs);
    const decision = writer.decide(work, event);
    if (decision.kind === 'refused') {
      logger.error(
        { redemptionId: payout.redemptionId, refusal: decision.code },
        'Evidence refused',
      );
      return false;
    }
    if (isNothingNew(decision, event)) return false;
    try {
      await writer.write(work, { decision, event });
    } catch (error) {
      // The user or an operator was faster: this one is read again, and the others are not held up.
      if (!(error instanceof StaleRedemptionError)) throw error;
      logger.info({ redemptionId: payout.redemptionId, code: error.code }, error.message);
      await this.parts.store.release(payout.redemptionId, work.owner);
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
      this.parts.payouts.requestCancel(payout, usdAmount);
    } catch (error) {
      if (!(error instanceof LowmarkError)) throw error;
      const { redemptionId } = payout;
      this.parts.logger.warn({ err: error, redemptionId }, 'The vault was not asked to cancel');
    }
  }
}

function isNothingNew({ next }: Moved, event: ReturnType<typeof payoutEvent>): boolean {
  const isDoubtful = event.type === 'payout-live' && event.contradiction !== undefined;
  return next.state === 'authorised' && !isDoubtful;
}
