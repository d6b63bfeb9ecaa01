/**
 * The fault table (docs/redemption.md, rules B to E and I): the event that follows from the outcome of a call, by step.
 */
import { isSettling } from '#libs/partner-sdk/answers';
import { reasonOf } from './partner-answer.js';
import { type CallOutcome } from './partner-call.js';
import { type EventOf } from './redemption-event.js';
import { type BookingStep, type OpenCall, type Redemption } from './redemption.js';

/** An id in the answer that our ledger already has for another redemption of this partner. */
export type ReusedId = 'transaction' | 'revert';

export type BalanceEvent = EventOf<'balance-refused' | 'balance-unknown'>;
export type DeductEvent = EventOf<
  | 'deduct-confirmed'
  | 'deduct-id-reused'
  | 'deduct-refused'
  | 'deduct-duplicate'
  | 'deduct-unknown'
  | 'deduct-not-sent'
>;
export type RevertEvent = EventOf<
  | 'revert-confirmed'
  | 'revert-already'
  | 'revert-not-found'
  | 'revert-amount-disputed'
  | 'revert-not-sent'
  | 'revert-unknown'
>;

/**
 * The event for the balance that is read before the first deduct call.
 * @returns undefined where the player has the points: the deduct call is due
 */
export function balanceEvent(
  { points }: Redemption,
  outcome: CallOutcome<'balance'>,
): BalanceEvent | undefined {
  switch (outcome.kind) {
    case 'succeeded':
      return outcome.answer.points >= points
        ? undefined
        : { type: 'balance-refused', code: 'ERR-INSUFFICIENT-POINTS' };
    case 'refused': {
      const { code, retryAfterSeconds } = outcome;
      return isSettling('balance', code)
        ? { type: 'balance-refused', code }
        : { type: 'balance-unknown', reason: reasonOf(code), retryAfterSeconds };
    }
    case 'unknown': {
      const { reason, retryAfterSeconds } = outcome;
      return { type: 'balance-unknown', reason, retryAfterSeconds };
    }
    case 'nothing-sent':
      return { type: 'balance-unknown', retryAfterSeconds: outcome.retryAfterSeconds };
  }
}

export function deductEvent(
  { requestId }: OpenCall,
  outcome: CallOutcome<'deduct'>,
  reused?: ReusedId,
): DeductEvent {
  const confirmed = (partnerTransactionId: string): DeductEvent =>
    reused === 'transaction'
      ? { type: 'deduct-id-reused', requestId }
      : { type: 'deduct-confirmed', requestId, partnerTransactionId };
  if (outcome.kind === 'succeeded') return confirmed(outcome.answer.partnerTransactionId);
  const { retryAfterSeconds } = outcome;
  switch (outcome.kind) {
    case 'nothing-sent':
      return { type: 'deduct-not-sent', requestId, retryAfterSeconds };
    case 'unknown': {
      const { reason, candidateTransactionId } = outcome;
      return {
        ...{ type: 'deduct-unknown', requestId, reason },
        ...{ retryAfterSeconds, candidateTransactionId },
      };
    }
    case 'refused': {
      const { code, partnerTransactionId: id } = outcome;
      if (!isSettling('deduct', code)) {
        return { type: 'deduct-unknown', requestId, reason: reasonOf(code), retryAfterSeconds };
      }
      switch (code) {
        case 'ERR-INSUFFICIENT-POINTS':
        case 'ERR-USER-NOT-FOUND':
          return { type: 'deduct-refused', requestId, code, retryAfterSeconds };
        case 'ERR-DUPLICATE-REQUEST':
          // Our extension of the interface names the deduction.
          return id === undefined ? { type: 'deduct-duplicate', requestId } : confirmed(id);
      }
    }
  }
}

export function revertEvent(
  { requestId, target }: OpenCall,
  outcome: CallOutcome<'revert'>,
  reused?: ReusedId,
): RevertEvent {
  if (outcome.kind === 'succeeded') {
    const { partnerTransactionId, partnerRevertId } = outcome.answer;
    const isOurs =
      target === undefined || target.by === 'redemption'
        ? reused !== 'transaction'
        : partnerTransactionId === target.transactionId;
    return isOurs && partnerRevertId !== partnerTransactionId && reused !== 'revert'
      ? { type: 'revert-confirmed', requestId, partnerTransactionId, partnerRevertId }
      : { type: 'revert-unknown', requestId, reason: 'invalid-transaction-id' };
  }
  const { retryAfterSeconds } = outcome;
  switch (outcome.kind) {
    case 'nothing-sent':
      return { type: 'revert-not-sent', requestId, retryAfterSeconds };
    case 'unknown':
      return { type: 'revert-unknown', requestId, reason: outcome.reason, retryAfterSeconds };
    case 'refused': {
      const { code } = outcome;
      if (!isSettling('revert', code)) {
        return { type: 'revert-unknown', requestId, reason: reasonOf(code), retryAfterSeconds };
      }
      switch (code) {
        case 'ERR-TRANSACTION-NOT-FOUND':
          return { type: 'revert-not-found', requestId, retryAfterSeconds };
        case 'ERR-ALREADY-REVERTED':
          return { type: 'revert-already', requestId };
        case 'ERR-INVALID-AMOUNT':
          return { type: 'revert-amount-disputed', requestId };
      }
    }
  }
}

export function callEvent(
  call: OpenCall,
  outcome: CallOutcome<BookingStep>,
  reused?: ReusedId,
): DeductEvent | RevertEvent {
  return call.step === 'deduct'
    ? deductEvent(call, outcome, reused)
    : revertEvent(call, outcome as CallOutcome<'revert'>, reused);
}

/** The event for an open call without an answer. Our own crash, at any point of the call, gives an unknown outcome. */
export function lostCallEvent({ step, requestId }: OpenCall): DeductEvent | RevertEvent {
  return step === 'deduct'
    ? { type: 'deduct-unknown', requestId, reason: 'crash' }
    : { type: 'revert-unknown', requestId, reason: 'crash' };
}
