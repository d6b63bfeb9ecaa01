/**
 * The calls to partners: each made once, and what is known after it. A call that changes the partner's books is booked: first the row, then
 * the call, then what it came to (rule A).
 */
import { type CallEnd, type ReservationLimits } from '#libs/db';
import {
  type Address,
  type BookingStep,
  callEvent,
  type CallOutcome,
  type DeadEvidence,
  lostCallEvent,
  type PartnerStep,
  type ReusedId,
  type UuidV7,
} from '#libs/domain';
import {
  callOutcome,
  newRequestId,
  type PartnerCall,
  type PartnerClient,
} from '#libs/partner-client';
import { type Clock } from '#libs/platform';
import { type Alerts } from '../observe/alerts.js';
import { type PartnerCallMetrics } from '../observe/partner-call.metrics.js';
import { type PartnerEntry } from '../partner/partner-directory.js';
import { type Applied, type TransitionWriter, type Work } from '../worker/transition-writer.js';

export interface CallOf<S extends PartnerStep> {
  readonly call: Extract<PartnerCall, { step: S }> & { readonly step: S };
  /** The wallet that it is about. */
  readonly address: Address;
  /** Committed before the call. */
  readonly requestId: UuidV7;
  readonly redemptionId?: UuidV7;
}

export interface CallMade<S extends PartnerStep> {
  readonly outcome: CallOutcome<S>;
  /** For the call log. */
  readonly end: CallEnd;
}

/** Makes one call to a partner, once, and says what is known after it. Whatever the partner does is an outcome, never an error. */
export class PartnerCaller {
  private readonly listeners: ((partnerId: string) => void)[] = [];

  constructor(
    private readonly client: PartnerClient,
    private readonly alerts: Alerts,
    private readonly metrics: PartnerCallMetrics,
  ) {}

  /** Is told of each partner whose circuit has closed again, by its id. */
  onBack(listener: (partnerId: string) => void): void {
    this.listeners.push(listener);
  }

  /** For how long calls to the partner would be held back; undefined where one would go out. */
  heldBackMs({ callback }: PartnerEntry): number | undefined {
    return this.client.heldBackMs(callback.partnerId);
  }

  async call<S extends PartnerStep>(
    { endpoint, callback, policy }: PartnerEntry,
    { call, address, requestId, redemptionId }: CallOf<S>,
  ): Promise<CallMade<S>> {
    const { step } = call;
    const { partnerId: partner, partnerName } = callback;
    const wasClosed = this.client.circuitOf(partner) === 'closed';
    const result = await this.client.call(endpoint, call, { requestId });
    if (!wasClosed && this.client.circuitOf(partner) === 'closed') {
      for (const listener of this.listeners) listener(partner);
    }
    const outcome = callOutcome({ step, address }, result, policy);
    const seconds = result.record.timings.total / 1000;
    this.metrics.called({ partner: partnerName, step, outcome: outcome.kind, seconds });
    // What came back is the domain's to judge; a URL that may not be called is our own fault.
    if (result.kind === 'nothing-sent' && result.alert) {
      this.alerts.raise({
        ...{ severity: 'warning', code: result.cause, partner, step, apiRequest: requestId },
        ...(redemptionId !== undefined && { redemptionId }),
      });
    }
    return { outcome, end: { requestId, outcome: result.kind, record: result.record } };
  }
}

/** What the row of a call rests on. */
export interface Booking {
  /** What the vault says, for a call that gives points back. */
  readonly neverPaid?: DeadEvidence;
  /** For the call that begins the deduction. */
  readonly reserve?: ReservationLimits;
}

export class BookedCalls {
  constructor(
    readonly writer: TransitionWriter,
    readonly caller: PartnerCaller,
    private readonly clock: Clock,
  ) {}

  /** A call that was committed and never answered for is an unknown outcome, and is settled before anything else. */
  async make(work: Work, partner: PartnerEntry, booking: Booking = {}): Promise<Applied> {
    const { openCall: lost } = work.stored.redemption;
    if (lost !== null) return this.writer.apply(work, lostCallEvent(lost));
    const { neverPaid, reserve } = booking;
    const due = { type: 'call-due', requestId: newRequestId(this.clock) } as const;
    const begun = await this.writer.apply(
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
    return this.writer.apply(begun.work, eventOf(), { callEnd: end, ifReused: eventOf });
  }
}
