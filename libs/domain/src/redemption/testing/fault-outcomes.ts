/** The possible outcomes of a call, built as they would arrive, and the state that each of them leads to. */
import { alertsOf } from '../alerts.js';
import { deductEvent, type ReusedId, revertEvent } from '../call-event.js';
import { type TransitionContext } from '../decision.js';
import { deliveryEvent, deliveryTransition, newDelivery } from '../delivery.js';
import { judgeReply, type PartnerReply } from '../partner-answer.js';
import { type CallOutcome, type PartnerPolicy, type UNKNOWN_REASONS } from '../partner-call.js';
import { type RedemptionEvent } from '../redemption-event.js';
import { type Redemption } from '../redemption.js';
import { transition } from '../transition.js';
import { aCall, aContext, aRedemption, CALL_ID, START_MS, WALLET } from './builders.js';

export const BY_REDEMPTION = aCall('revert', {
  startedAtMs: START_MS + 600_001,
  target: { by: 'redemption' },
});

type FaultStep = 'deduct' | 'revert' | 'confirm';
export type FaultOutcome = (step: FaultStep) => CallOutcome<FaultStep>;

export const unknown =
  (reason: (typeof UNKNOWN_REASONS)[number]): FaultOutcome =>
  () => ({ kind: 'unknown', reason });
export const reply =
  (change: Partial<PartnerReply>): FaultOutcome =>
  (step) =>
    judgeReply(
      { step, address: WALLET },
      { status: 200, contentType: 'application/json', signature: 'valid', ...change },
    );
export const body = (value: unknown, change: Partial<PartnerReply> = {}): FaultOutcome =>
  reply({ json: { value }, ...change });
export const error = (
  errorCode: string,
  change: Partial<PartnerReply> = {},
  extra = {},
): FaultOutcome => body({ success: false, errorCode, errorMessage: 'x', ...extra }, change);
export const success = (change: Partial<PartnerReply> = {}, ids = {}): FaultOutcome =>
  body({ success: true, partnerTransactionId: 'tx-1', partnerRevertId: 'rev-1', ...ids }, change);

interface EndedWith {
  readonly reused?: ReusedId;
  readonly capabilities?: PartnerPolicy['capabilities'];
}

/**
 * Where the outcome leads a redemption with an open call: its state or `retry`; `+alert` where the outcome raises an
 * alert.
 */
export function ended(
  step: FaultStep,
  outcome: CallOutcome<FaultStep>,
  change: Partial<Redemption> = {},
  { reused, capabilities = [] }: EndedWith = {},
): string {
  const policy = { capabilities, confirms: true };
  const context = aContext({ nowMs: START_MS + 2000, policy });
  if (step === 'confirm') {
    const due = deliveryTransition(
      newDelivery(START_MS),
      { type: 'call-due', requestId: CALL_ID },
      context,
    );
    if (due.kind === 'refused') return due.code;
    const decision = deliveryTransition(due.next, deliveryEvent(CALL_ID, outcome), context);
    if (decision.kind === 'refused') return decision.code;
    const alerted = decision.alerts.length > 0;
    const waits = decision.next.state === 'pending' ? 'retry' : decision.next.state;
    return waits + (alerted ? ' +alert' : '');
  }
  const redemption = aRedemption(step === 'deduct' ? 'deducting' : 'reverting', change);
  const call = redemption.openCall ?? aCall(step);
  const event =
    step === 'deduct'
      ? deductEvent(call, outcome as CallOutcome<'deduct'>, reused)
      : revertEvent(call, outcome as CallOutcome<'revert'>, reused);
  return told(redemption, event, context);
}

function told(redemption: Redemption, event: RedemptionEvent, context: TransitionContext): string {
  const decision = transition(redemption, event, context);
  if (decision.kind === 'refused') return `!${decision.code}`;
  const { next } = decision;
  const alerted = alertsOf(event, redemption, next).length > 0;
  const stays = next.state === redemption.state;
  const unproven = next.unprovenAttempts > 0 && stays && next.state === 'deducting';
  return (
    (stays ? 'retry' : next.state) + (unproven ? ' unproven' : '') + (alerted ? ' +alert' : '')
  );
}
