/** The fault table (redemption, rules B to E and I): what the outcome of a call means, step by step. */
import {
  type CallOutcome,
  type PartnerErrorCode,
  type RefusedOutcome,
  type UnknownReason,
} from './call-outcome.js';
import { type EventOf } from './redemption-event.js';
import { type OpenCall } from './redemption.js';

/** What our own books know about the ids in an answer. */
export interface KnownIds {
  /** The answer's transaction id belongs to another redemption of this partner. */
  readonly transactionIdIsAnothers: boolean;
  /** The answer's revert id belongs to another revert of this partner. */
  readonly revertIdIsAnothers: boolean;
}

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

type Wait = { readonly retryAfterSeconds?: number };

export function deductEvent(
  { requestId }: Pick<OpenCall, 'requestId'>,
  outcome: CallOutcome<'deduct'>,
  known: Pick<KnownIds, 'transactionIdIsAnothers'>,
): DeductEvent {
  const confirmed = (partnerTransactionId: string): DeductEvent =>
    known.transactionIdIsAnothers
      ? { type: 'deduct-id-reused', requestId }
      : { type: 'deduct-confirmed', requestId, partnerTransactionId };
  switch (outcome.kind) {
    case 'nothing-sent':
      return { type: 'deduct-not-sent', requestId, reason: outcome.reason, ...waitOf(outcome) };
    case 'unknown': {
      const { reason, candidateTransactionId: id } = outcome;
      const candidate = id === undefined ? {} : { candidateTransactionId: id };
      return { type: 'deduct-unknown', requestId, reason, ...waitOf(outcome), ...candidate };
    }
    case 'succeeded':
      return confirmed(outcome.answer.partnerTransactionId);
    case 'refused': {
      const { code, signed, partnerTransactionId: id } = outcome;
      switch (code) {
        case 'ERR-INSUFFICIENT-POINTS':
        case 'ERR-USER-NOT-FOUND':
          return { type: 'deduct-refused', requestId, code, ...waitOf(outcome) };
        case 'ERR-DUPLICATE-REQUEST':
          // Our additive extension names the deduction; unsigned, the name is a candidate at most.
          if (id !== undefined && signed) return confirmed(id);
          return id === undefined
            ? { type: 'deduct-duplicate', requestId }
            : { type: 'deduct-duplicate', requestId, candidateTransactionId: id };
        // A second copy of a call that deducted is refused just so.
        case 'ERR-AUTH-FAILED':
        case 'ERR-INTERNAL':
        case 'ERR-TRANSACTION-NOT-FOUND':
        case 'ERR-ALREADY-REVERTED':
        case 'ERR-INVALID-AMOUNT':
        case 'ERR-REDEMPTION-NOT-FOUND':
          return { type: 'deduct-unknown', requestId, reason: reasonOf(code), ...waitOf(outcome) };
      }
    }
  }
}

export function revertEvent(
  { requestId, target }: Pick<OpenCall, 'requestId' | 'target'>,
  outcome: CallOutcome<'revert'>,
  known: KnownIds,
): RevertEvent {
  const unknown = (reason: EventOf<'revert-unknown'>['reason'], wait: Wait = {}): RevertEvent => ({
    type: 'revert-unknown',
    requestId,
    reason,
    ...wait,
  });
  switch (outcome.kind) {
    case 'nothing-sent':
      return { type: 'revert-not-sent', requestId, reason: outcome.reason, ...waitOf(outcome) };
    case 'unknown':
      return unknown(outcome.reason, waitOf(outcome));
    case 'succeeded': {
      const { partnerTransactionId, partnerRevertId } = outcome.answer;
      const isOurs =
        target === undefined || target.by === 'redemption'
          ? !known.transactionIdIsAnothers
          : partnerTransactionId === target.transactionId;
      const isNew = partnerRevertId !== partnerTransactionId && !known.revertIdIsAnothers;
      return isOurs && isNew
        ? { type: 'revert-confirmed', requestId, partnerTransactionId, partnerRevertId }
        : unknown('invalid-transaction-id');
    }
    case 'refused':
      return revertRefused(requestId, outcome);
  }
}

function revertRefused(requestId: OpenCall['requestId'], outcome: RefusedOutcome): RevertEvent {
  const { code, signed } = outcome;
  switch (code) {
    case 'ERR-TRANSACTION-NOT-FOUND':
      return { type: 'revert-not-found', requestId, signed, ...waitOf(outcome) };
    case 'ERR-ALREADY-REVERTED':
      return { type: 'revert-already', requestId };
    case 'ERR-INVALID-AMOUNT':
      return { type: 'revert-amount-disputed', requestId };
    case 'ERR-AUTH-FAILED':
    case 'ERR-INTERNAL':
    case 'ERR-USER-NOT-FOUND':
    case 'ERR-DUPLICATE-REQUEST':
    case 'ERR-INSUFFICIENT-POINTS':
    case 'ERR-REDEMPTION-NOT-FOUND':
      return { type: 'revert-unknown', requestId, reason: reasonOf(code), ...waitOf(outcome) };
  }
}

/** A call that was committed and never answered for: our own crash, at any point of it, is an unknown outcome like any other. */
export function lostCallEvent({ step, requestId }: OpenCall): DeductEvent | RevertEvent {
  return step === 'deduct'
    ? { type: 'deduct-unknown', requestId, reason: 'crash' }
    : { type: 'revert-unknown', requestId, reason: 'crash' };
}

/** A code that says nothing at this step is as good as an unknown one. */
export function reasonOf(code: PartnerErrorCode): UnknownReason {
  if (code === 'ERR-AUTH-FAILED') return 'auth-failed';
  return code === 'ERR-INTERNAL' ? 'error-internal' : 'unknown-code';
}

function waitOf({ retryAfterSeconds }: Wait): Wait {
  return retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
}
