/**
 * The redemptions that are due: leased, brought further by events, and given back. The domain decides, the store writes, and alerts are
 * raised after the commit. A call that changes the partner's books is booked: first the row, then the call, then what it came to (rule A).
 */
import {
  type CallEnd,
  PartnerIdReusedError,
  type RedemptionStore,
  type ReservationLimits,
  type StoredRedemption,
} from '#libs/db';
import {
  alertsOf,
  type BookingStep,
  callEvent,
  type DeadEvidence,
  type Decision,
  lostCallEvent,
  type Moved,
  type PartnerPolicy,
  type PayoutPlace,
  type Redemption,
  type RedemptionEvent,
  type ReusedId,
  transition,
} from '#libs/domain';
import { newRequestId } from '#libs/partner-client';
import {
  type PartnerCaller,
  type PartnerDirectory,
  type PartnerEntry,
} from '../partner/partners.js';
import { type EngineContext } from './engine.js';

/** What is assumed of a partner that cannot be looked up: nothing that proves anything, and that it is owed its confirmation. */
const UNKNOWN_PARTNER: PartnerPolicy = { capabilities: [], confirms: true };

export interface Work {
  readonly stored: StoredRedemption;
  readonly owner: string;
  /** Undefined where it is not there to be called. */
  readonly partner: PartnerEntry | undefined;
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

/** What the row of a call rests on. */
export interface Booking {
  /** What the vault says, for a call that gives points back. */
  readonly neverPaid?: DeadEvidence;
  /** For the call that begins the deduction. */
  readonly reserve?: ReservationLimits;
}

export class LeasedRedemptions {
  constructor(
    private readonly store: RedemptionStore,
    private readonly directory: PartnerDirectory,
    readonly caller: PartnerCaller,
    private readonly context: EngineContext,
  ) {}

  /** Of a row that cannot be read a person is told; the others are leased. */
  lease(count: number, owner: string, authorised: boolean): Promise<readonly StoredRedemption[]> {
    const { clock, alerts, settings } = this.context;
    const { leaseMs } = settings;
    return this.store.lease({
      ...{ count, owner, leaseMs, dueByMs: clock.nowMs(), authorised },
      onUnreadable: ({ redemptionId, fault }) => {
        alerts.raise({
          severity: 'critical',
          code: 'redemption-unreadable',
          redemptionId,
          detail: `its row cannot be read (${fault}): no program of ours has written it so, and nothing is done with it`,
        });
      },
    });
  }

  async workOn(stored: StoredRedemption, owner: string): Promise<Work> {
    return { stored, owner, partner: await this.directory.find(stored.redemption.partner) };
  }

  async renew({ stored, owner }: Work): Promise<void> {
    await this.store.renew(stored.redemption.id, owner, this.context.settings.leaseMs);
  }

  async release({ stored, owner }: Work): Promise<void> {
    await this.store.release(stored.redemption.id, owner);
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

  decide({ stored, partner }: Work, event: RedemptionEvent): Decision {
    const { clock, random } = this.context;
    const policy = partner?.policy ?? UNKNOWN_PARTNER;
    return transition(stored.redemption, event, { nowMs: clock.nowMs(), jitter: random(), policy });
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

  /** A call that was committed and never answered for is an unknown outcome, and is settled before anything else. */
  async callPartner(work: Work, partner: PartnerEntry, booking: Booking = {}): Promise<Applied> {
    const { openCall: lost } = work.stored.redemption;
    if (lost !== null) return this.apply(work, lostCallEvent(lost));
    const { neverPaid, reserve } = booking;
    const due = { type: 'call-due', requestId: newRequestId(this.context.clock) } as const;
    const begun = await this.apply(
      work,
      { ...due, ...(neverPaid && { neverPaid }) },
      { ...(reserve && { reserve }) },
    );
    const { decision } = begun;
    const { openCall, wallet: address, id: redemptionId } = begun.work.stored.redemption;
    if (decision.kind !== 'moved' || decision.command?.kind !== 'call-partner') return begun;
    if (openCall === null) throw new TypeError('a call without its row');
    const { request: call, requestId } = decision.command;
    const { outcome, end } = await this.caller.call<BookingStep>(partner, {
      ...{ call, address, requestId, redemptionId },
    });
    const eventOf = (reused?: ReusedId) => callEvent(openCall, outcome, reused);
    return this.apply(begun.work, eventOf(), { callEnd: end, ifReused: eventOf });
  }

  /** Whether the same worker goes on with it under the same lease. */
  private goesOn(before: Redemption, next: Redemption): boolean {
    const { nextActionAtMs, state } = next;
    const isOthers = (state === 'authorised') !== (before.state === 'authorised');
    return nextActionAtMs !== null && nextActionAtMs <= this.context.clock.nowMs() && !isOthers;
  }
}
