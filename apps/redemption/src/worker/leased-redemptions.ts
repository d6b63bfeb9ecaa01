/**
 * Leases the redemptions that are due, applies events to them, and releases them. The domain decides, the store writes,
 * and alerts are raised after the commit. A call that changes the partner's books is stored before it is made, and its
 * result after it (rule A of docs/redemption.md).
 */
import {
  type CallEnd,
  PartnerIdReusedError,
  type RedemptionStore,
  type ReservationLimits,
  type StoredRedemption,
  type UnreadableRedemptionError,
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

/** Policy assumed of a partner that cannot be looked up: no capabilities, and its confirmation is owed. */
const ASSUMED_POLICY: PartnerPolicy = { capabilities: [], confirms: true };

export interface LeasedWork {
  readonly stored: StoredRedemption;
  readonly owner: string;
  /** Undefined where the partner has no callback, or its secret cannot be opened. */
  readonly partner: PartnerEntry | undefined;
  /** When the lease began, in milliseconds of the `performance` clock. */
  readonly leasedAt: number;
}

export interface EventDetails {
  readonly callEnd?: CallEnd;
  readonly place?: PayoutPlace;
  /** Limits of the reservation; needed where the event may begin the deduction. */
  readonly reserve?: ReservationLimits;
  /** Makes the event that is applied instead where the partner's id already belongs to another redemption. */
  readonly ifReused?: (which: ReusedId) => RedemptionEvent;
}

export interface ApplyResult {
  readonly decision: Decision | { readonly kind: 'postponed' };
  /** With the redemption as it stands after the write. */
  readonly work: LeasedWork;
  /** True where the lease was given back with the same write. */
  readonly released: boolean;
}

/** What permits a call that changes the partner's books. */
export interface CallGrounds {
  /** Proof that the vault can never pay, for a call that gives points back. */
  readonly neverPaid?: DeadEvidence;
  /** Limits of the reservation, for the call that begins the deduction. */
  readonly reserve?: ReservationLimits;
}

export class LeasedRedemptions {
  constructor(
    private readonly store: RedemptionStore,
    private readonly directory: PartnerDirectory,
    readonly caller: PartnerCaller,
    private readonly context: EngineContext,
  ) {}

  /** Raises an alert for each row that cannot be read, and leases the others. */
  lease(count: number, owner: string): Promise<readonly StoredRedemption[]> {
    const { clock, settings } = this.context;
    const { leaseMs } = settings;
    const { onUnreadable } = this;
    return this.store.lease({ count, owner, leaseMs, dueByMs: clock.nowMs(), onUnreadable });
  }

  /** Takes authorised payouts, to observe them. They are due again after `recheckMs`. */
  takePayouts(count: number, recheckMs: number): Promise<readonly StoredRedemption[]> {
    const dueByMs = this.context.clock.nowMs();
    const { onUnreadable } = this;
    return this.store.takePayouts({ count, dueByMs, untilMs: dueByMs + recheckMs, onUnreadable });
  }

  /** @returns false where the redemption has changed since it was taken, or another worker has leased it */
  leasePayout({ stored, owner }: LeasedWork): Promise<boolean> {
    return this.store.leasePayout(stored.redemption, owner, this.context.settings.leaseMs);
  }

  async workOn(
    stored: StoredRedemption,
    owner: string,
    leasedAt = performance.now(),
  ): Promise<LeasedWork> {
    const partner = await this.directory.find(stored.redemption.partner);
    return { stored, owner, partner, leasedAt };
  }

  /**
   * Renews the lease where a third of it has passed, so that a call always fits into the rest.
   * @throws LeaseLostError
   */
  async keep(work: LeasedWork): Promise<LeasedWork> {
    const { leaseMs } = this.context.settings;
    const now = performance.now();
    if (now - work.leasedAt <= leaseMs / 3) return work;
    await this.store.renew(work.stored.redemption.id, work.owner, leaseMs);
    return { ...work, leasedAt: now };
  }

  async release({ stored, owner }: LeasedWork): Promise<void> {
    await this.store.release(stored.redemption.id, owner);
  }

  /** Moves the due time and gives back the lease, without a transition: nothing was learnt. */
  async postpone(work: LeasedWork, untilMs: number): Promise<ApplyResult> {
    await this.store.postpone(work.stored.redemption, work.owner, untilMs);
    return { decision: { kind: 'postponed' }, work, released: true };
  }

  decide({ stored, partner }: LeasedWork, event: RedemptionEvent): Decision {
    const { clock, random } = this.context;
    const policy = partner?.policy ?? ASSUMED_POLICY;
    return transition(stored.redemption, event, { nowMs: clock.nowMs(), jitter: random(), policy });
  }

  /**
   * Decides on the event and writes the transition. The lease is given back where the next step is not due yet, or
   * belongs to another queue.
   * @throws LeaseLostError, StaleRedemptionError, ReservationRefusedError, DatabaseUnavailableError: nothing may follow
   *   from the event then
   */
  async apply(
    work: LeasedWork,
    event: RedemptionEvent,
    notes: EventDetails = {},
  ): Promise<ApplyResult> {
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

  /** Writes a decision that `decide` has just made. @throws RestoreNotNotedError, and as `apply` */
  async write(
    work: LeasedWork,
    event: RedemptionEvent,
    decision: Moved,
    { callEnd, place, reserve }: EventDetails = {},
  ): Promise<ApplyResult> {
    const { stored, owner } = work;
    const before = stored.redemption;
    const { next } = decision;
    const release = !this.goesOn(before, next);
    const binds = bindsOthers(before, next);
    if (binds) await this.context.ledger.requireNoted();
    await this.store.apply({
      ...{ before, decision, event: event.type, actor: 'worker', owner, release, stored },
      ...(reserve !== undefined && next.state === 'deducting' && { reserve }),
      ...(callEnd !== undefined && { callEnd }),
      ...(place !== undefined && { place }),
    });
    if (binds) await this.context.ledger.keep(next, event.type);
    this.context.metrics.moved(event.type, before.state, next.state);
    const { id: redemptionId, partner } = next;
    for (const alert of alertsOf(event, before, next)) {
      this.context.alerts.raise({ ...alert, redemptionId, partner });
    }
    const nextStored = { ...stored, redemption: next, place: stored.place ?? place ?? null };
    return { decision, work: { ...work, stored: nextStored }, released: release };
  }

  /**
   * Calls the partner. Where an earlier call was committed and has no result, its outcome is unknown: that outcome is
   * recorded, and no new call is made.
   */
  async callPartner(
    work: LeasedWork,
    partner: PartnerEntry,
    booking: CallGrounds = {},
  ): Promise<ApplyResult> {
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

  private readonly onUnreadable = ({ redemptionId, fault }: UnreadableRedemptionError): void => {
    this.context.alerts.raise({
      severity: 'critical',
      code: 'redemption-unreadable',
      redemptionId,
      detail: `its row cannot be read (${fault}): no program of ours has written it so, and nothing is done with it`,
    });
  };

  /** Whether this worker goes on with the redemption under the same lease. */
  private goesOn(before: Redemption, next: Redemption): boolean {
    const { nextActionAtMs, state } = next;
    const isOthers = (state === 'authorised') !== (before.state === 'authorised');
    return nextActionAtMs !== null && nextActionAtMs <= this.context.clock.nowMs() && !isOthers;
  }
}

/** Whether a partner or a user may act on the transition, which must then never be forgotten: a call, or a plan. */
function bindsOthers(before: Redemption, next: Redemption): boolean {
  const { openCall } = next;
  const begins = openCall !== null && openCall.requestId !== before.openCall?.requestId;
  return begins || (before.plan === null && next.plan !== null);
}
