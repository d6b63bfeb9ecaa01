import { type CallOutcome, deductEvent, type OpenCall } from '#libs/domain';
import { BookingCall, type OutcomeEvents } from './booking.step.js';

/** Takes the points: `created` and `deducting`. */
export class DeductStep extends BookingCall<'deduct'> {
  protected readonly step = 'deduct';

  protected eventsOf(call: OpenCall, outcome: CallOutcome<'deduct'>): OutcomeEvents {
    const eventIf = (transactionIdIsAnothers: boolean) =>
      deductEvent(call, outcome, { transactionIdIsAnothers });
    return { event: eventIf(false), ifReused: () => eventIf(true) };
  }
}
