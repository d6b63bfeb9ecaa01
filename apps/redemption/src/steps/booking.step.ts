/**
 * A call that changes the partner's books, whichever of the two: first the row, then the call, then what it came to (rule A). A call that
 * was committed and never answered for is an unknown outcome, and is settled before anything else.
 */
import {
  type BookingStep,
  type CallOutcome,
  type EventOf,
  lostCallEvent,
  type OpenCall,
  type PartnerRequest,
  type RedemptionEvent,
} from '#libs/domain';
import { newRequestId } from '#libs/partner-client';
import { type Clock } from '#libs/platform';
import { type PartnerEntry } from '../partner/partner-directory.js';
import {
  type Applied,
  type EventNotes,
  type TransitionWriter,
  type Work,
} from '../worker/transition-writer.js';
import { type PartnerCaller } from './partner-caller.js';

export interface BookingParts {
  readonly writer: TransitionWriter;
  readonly caller: PartnerCaller;
  readonly clock: Clock;
}

/** What the outcome of the step's call means, and what it means where one of the answer's ids is another redemption's. */
export interface OutcomeEvents {
  readonly event: RedemptionEvent;
  readonly ifReused: (which: 'transaction' | 'revert') => RedemptionEvent;
}

export abstract class BookingCall<S extends BookingStep> {
  protected abstract readonly step: S;

  constructor(protected readonly parts: BookingParts) {}

  protected abstract eventsOf(call: OpenCall, outcome: CallOutcome<S>): OutcomeEvents;

  async run(work: Work, partner: PartnerEntry): Promise<Applied> {
    const { openCall } = work.stored.redemption;
    if (openCall !== null) return this.parts.writer.apply(work, lostCallEvent(openCall));
    return this.begin(work, partner);
  }

  protected async begin(
    work: Work,
    partner: PartnerEntry,
    proof: Pick<EventOf<'call-due'>, 'neverPaid'> = {},
    notes: Pick<EventNotes, 'reserve'> = {},
  ): Promise<Applied> {
    const { writer, clock } = this.parts;
    const requestId = newRequestId(clock);
    const begun = await writer.apply(work, { type: 'call-due', requestId, ...proof }, notes);
    const request = this.requestIn(begun);
    return request === undefined ? begun : this.call(begun.work, partner, request);
  }

  private requestIn({ decision }: Applied): Extract<PartnerRequest, { step: S }> | undefined {
    if (decision.kind === 'refused') return undefined;
    const { command } = decision;
    return command?.kind === 'call-partner' && command.request.step === this.step
      ? (command.request as Extract<PartnerRequest, { step: S }>)
      : undefined;
  }

  private async call(
    work: Work,
    partner: PartnerEntry,
    request: Extract<PartnerRequest, { step: S }>,
  ): Promise<Applied> {
    const { redemption } = work.stored;
    const open = redemption.openCall;
    if (open === null) throw new TypeError('a call without its row');
    const { outcome, end } = await this.parts.caller.call<S>(partner, {
      call: request,
      address: redemption.wallet,
      requestId: open.requestId,
      redemptionId: redemption.id,
    });
    const { event, ifReused } = this.eventsOf(open, outcome);
    return this.parts.writer.apply(work, event, { callEnd: end, ifReused });
  }
}
