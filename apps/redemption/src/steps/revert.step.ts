import { type RedemptionStore } from '#libs/db';
import {
  type CallOutcome,
  LowmarkError,
  mayAwaitPartner,
  type OpenCall,
  payoutEvent,
  type PayoutEvidence,
  type Refusal,
  revertEvent,
} from '#libs/domain';
import { type Logger } from '#libs/platform';
import { type PartnerEntry } from '../partner/partner-directory.js';
import {
  type CommittedPayout,
  type PayoutPort,
  type UnplannedEvidence,
} from '../payout/payout-port.js';
import { type Applied, type Work } from '../worker/transition-writer.js';
import { BookingCall, type BookingParts, type OutcomeEvents } from './booking.step.js';

/** Until the vault is asked again of a payout that is not dead, and where what it said cannot be true. */
const RECHECK_MS = 30_000;
const CONTRADICTION_RECHECK_MS = 60_000;

export interface RevertParts extends BookingParts {
  readonly store: Pick<RedemptionStore, 'postpone'>;
  readonly payouts: Pick<PayoutPort, 'observe' | 'observeUnplanned'>;
  readonly logger: Logger;
}

/** No decision of the rules: nothing has happened. */
const HELD_BACK: Refusal = {
  kind: 'refused',
  code: 'out-of-place',
  message: 'The circuit of the partner is open.',
};

type Live = Extract<PayoutEvidence, { outcome: 'live' }>;

/** Gives the points back: `reverting`. */
export class RevertStep extends BookingCall<'revert'> {
  protected readonly step = 'revert';

  constructor(private readonly own: RevertParts) {
    super(own);
  }

  /**
   * The vault is asked before each call, whatever the row says: a row may be of an old ledger, or written by a stolen credential, and
   * asking is cheap beside points and tokens both going.
   */
  override async run(work: Work, partner: PartnerEntry): Promise<Applied> {
    if (work.stored.redemption.openCall !== null) return super.run(work, partner);
    return (await this.postponeHeldBack(work, partner)) ?? this.askVault(work, partner);
  }

  /** A call that would be held back is not begun: it would leave rows, and say nothing. */
  private async postponeHeldBack(work: Work, partner: PartnerEntry): Promise<Applied | undefined> {
    const { store, caller, clock } = this.own;
    const { redemption } = work.stored;
    const nowMs = clock.nowMs();
    if (!mayAwaitPartner(redemption, nowMs)) return undefined;
    const heldBackMs = caller.heldBackMs(partner);
    if (heldBackMs === undefined) return undefined;
    await store.postpone([redemption], work.owner, nowMs + Math.ceil(heldBackMs));
    return { decision: HELD_BACK, work, released: true };
  }

  private async askVault(work: Work, partner: PartnerEntry): Promise<Applied> {
    const { id } = work.stored.redemption;
    const { evidence, place } = await this.look(work);
    switch (evidence.outcome) {
      case 'dead':
        return this.begin(work, partner, { neverPaid: evidence });
      case 'paid':
        return this.own.writer.apply(work, payoutEvent(id, evidence, 0), place && { place });
      case 'live':
        return this.wait(work, evidence);
    }
  }

  private async look(work: Work): Promise<Looked> {
    const { redemption } = work.stored;
    const payout = committedPayout(work);
    try {
      if (payout) {
        const [evidence = { outcome: 'live' as const }] = await this.own.payouts.observe([payout]);
        return { evidence };
      }
      return await this.own.payouts.observeUnplanned(redemption);
    } catch (error) {
      if (!(error instanceof LowmarkError)) throw error;
      const { id: redemptionId } = redemption;
      this.own.logger.warn({ err: error, redemptionId }, 'The vault cannot be asked; points wait');
      return { evidence: { outcome: 'live' } };
    }
  }

  /** What was not learnt is not written. */
  private async wait(work: Work, evidence: Live): Promise<Applied> {
    const { writer, store, clock, logger } = this.own;
    const { redemption } = work.stored;
    const { id } = redemption;
    const { doubt } = evidence;
    if (doubt !== undefined) logger.warn({ redemptionId: id, doubt }, 'The vault is in doubt');
    const isFalse = doubt?.kind === 'contradiction';
    const recheckMs = isFalse ? CONTRADICTION_RECHECK_MS : RECHECK_MS;
    const event = payoutEvent(id, evidence, recheckMs);
    if (isFalse) return writer.apply(work, event);
    const decision = writer.decide(work, event);
    await store.postpone([redemption], work.owner, clock.nowMs() + recheckMs);
    return { decision, work, released: true };
  }

  protected eventsOf(call: OpenCall, outcome: CallOutcome<'revert'>): OutcomeEvents {
    return {
      event: revertEvent(call, outcome),
      ifReused: (which) => revertEvent(call, outcome, which),
    };
  }
}

/** Without the place where the chain was not asked. */
type Looked = Pick<UnplannedEvidence, 'evidence'> & Partial<UnplannedEvidence>;

/** What was authorised for it; undefined where nothing was. */
export function committedPayout({ stored }: Pick<Work, 'stored'>): CommittedPayout | undefined {
  const { redemption, place } = stored;
  const { plan, id: redemptionId, lostVoucherUntilSeconds } = redemption;
  return plan !== null && place !== null
    ? { redemptionId, plan, place, lostVoucherUntilSeconds }
    : undefined;
}
