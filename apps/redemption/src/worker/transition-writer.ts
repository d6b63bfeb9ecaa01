/** Brings an event to a redemption: the domain decides, the store writes, and alerts are raised after the commit. */
import {
  type CallEnd,
  PartnerIdReusedError,
  type PayoutPlace,
  type RedemptionStore,
  type ReservationLimits,
  type StoredRedemption,
} from '#libs/db';
import {
  alertsOf,
  type Decision,
  type Moved,
  type PartnerPolicy,
  type Redemption,
  type RedemptionEvent,
  type ReusedId,
  transition,
} from '#libs/domain';
import { type CommittedPayout } from '../payout/payout-port.js';
import { type EngineContext } from './engine.js';

/** One leased redemption and whose it is. */
export interface Work {
  readonly stored: StoredRedemption;
  readonly owner: string;
  readonly policy: PartnerPolicy;
}

export interface EventNotes {
  readonly callEnd?: CallEnd;
  readonly place?: PayoutPlace;
  /** Needed where the event may begin the deduction. */
  readonly reserve?: ReservationLimits;
  /** The event where an id in the partner's answer turns out to be another redemption's. */
  readonly ifReused?: (which: ReusedId) => RedemptionEvent;
}

export interface Applied {
  readonly decision: Decision | { readonly kind: 'postponed' };
  /** The redemption as it stands now. */
  readonly work: Work;
  /** The lease was given back with it. */
  readonly released: boolean;
}

/** What was authorised for it; undefined where nothing was. */
export function committedPayout({ stored }: Work): CommittedPayout | undefined {
  const { redemption, place } = stored;
  const { plan, id: redemptionId, lostVoucherUntilSeconds } = redemption;
  return plan !== null && place !== null
    ? { redemptionId, plan, place, lostVoucherUntilSeconds }
    : undefined;
}

export class TransitionWriter {
  constructor(
    private readonly store: RedemptionStore,
    private readonly context: EngineContext,
  ) {}

  decide({ stored, policy }: Work, event: RedemptionEvent): Decision {
    const { clock, random } = this.context;
    return transition(stored.redemption, event, {
      nowMs: clock.nowMs(),
      jitter: random(),
      policy,
    });
  }

  /**
   * Decides and writes. The lease is given back where the next step is not due yet, or is for another queue.
   * @throws LeaseLostError, StaleRedemptionError, ReservationRefusedError, DatabaseUnavailableError: nothing may follow from the
   * event then
   */
  async apply(work: Work, event: RedemptionEvent, notes: EventNotes = {}): Promise<Applied> {
    const decision = this.decide(work, event);
    if (decision.kind === 'refused') return { decision, work, released: false };
    const { ifReused, ...rest } = notes;
    try {
      return await this.write(work, event, decision, rest);
    } catch (error) {
      if (!(error instanceof PartnerIdReusedError) || ifReused === undefined) throw error;
      return this.apply(work, ifReused(error.which), rest);
    }
  }

  /** Writes what was decided just now. */
  async write(
    work: Work,
    event: RedemptionEvent,
    decision: Moved,
    { callEnd, place, reserve }: EventNotes = {},
  ): Promise<Applied> {
    const { stored, owner } = work;
    const before = stored.redemption;
    const { next } = decision;
    const release = !this.goesOn(before, next);
    await this.store.apply({
      ...{ before, decision, event: event.type, actor: 'worker', owner, release, stored },
      ...(reserve !== undefined && next.state === 'deducting' && { reserve }),
      ...(callEnd !== undefined && { callEnd }),
      ...(place !== undefined && { place }),
    });
    this.context.metrics.moved(event.type, before.state, next.state);
    const { id: redemptionId, partner } = next;
    for (const alert of alertsOf(event, before, next)) {
      this.context.alerts.raise({ ...alert, redemptionId, partner });
    }
    const nextStored = { ...stored, redemption: next, place: stored.place ?? place ?? null };
    return { decision, work: { ...work, stored: nextStored }, released: release };
  }

  /** Nothing was learnt: it is due again at that moment, and its lease is given back. */
  async postpone(work: Work, untilMs: number): Promise<Applied> {
    await this.postponeAll([work], untilMs);
    return { decision: { kind: 'postponed' }, work, released: true };
  }

  /** @param works all of one lease */
  async postponeAll(works: readonly Work[], untilMs: number): Promise<void> {
    const [first] = works;
    if (first === undefined) return;
    const seen = works.map(({ stored }) => stored.redemption);
    await this.store.postpone(seen, first.owner, untilMs);
  }

  async release({ stored, owner }: Work): Promise<void> {
    await this.store.release(stored.redemption.id, owner);
  }

  /** Whether the same worker goes on with it under the same lease. */
  private goesOn(before: Redemption, next: Redemption): boolean {
    const { nextActionAtMs, state } = next;
    const isOthers = (state === 'authorised') !== (before.state === 'authorised');
    return nextActionAtMs !== null && nextActionAtMs <= this.context.clock.nowMs() && !isOthers;
  }
}
