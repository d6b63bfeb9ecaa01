import {
  type AnsweredCall,
  type CallOutcome,
  judgeReply,
  type NothingSentReason,
  type PartnerStep,
  type UnknownReason,
} from '#libs/domain';
import {
  type AnswerResult,
  type CallResult,
  type NoAnswerCause,
  type NothingSentCause,
} from './call-result.js';

/**
 * The exact causes in the domain's terms. The domain only needs the proof that nothing was sent; the call's record
 * keeps the exact cause.
 */
const NOTHING_SENT: Readonly<Record<NothingSentCause, NothingSentReason>> = {
  dns: 'dns',
  tls: 'tls',
  'invalid-url': 'blocked-address',
  'blocked-address': 'blocked-address',
  'connection-refused': 'connection-refused',
  unreachable: 'not-connected',
  'connect-timeout': 'not-connected',
  'circuit-open': 'held-back',
  'too-many-calls': 'held-back',
  'stale-request-id': 'held-back',
  aborted: 'held-back',
};

const UNKNOWN: Readonly<Record<NoAnswerCause, UnknownReason>> = {
  timeout: 'timeout',
  'too-slow': 'too-slow',
  reset: 'reset',
  'half-answer': 'half-answer',
  'too-large': 'too-large',
  'not-http': 'no-envelope',
  // Our side ended the call before the outcome was known.
  aborted: 'crash',
};

/**
 * Translates the end of a call for the redemption: faults of the transport into the domain's terms, and an answer by
 * the domain's judgement.
 */
export function callOutcome<S extends PartnerStep>(
  call: AnsweredCall<S>,
  result: CallResult,
): CallOutcome<S> {
  switch (result.kind) {
    case 'nothing-sent':
      return {
        kind: 'nothing-sent',
        reason: NOTHING_SENT[result.cause],
        ...(result.retryAfterSeconds !== undefined && {
          retryAfterSeconds: result.retryAfterSeconds,
        }),
      };
    case 'no-answer':
      return { kind: 'unknown', reason: UNKNOWN[result.cause] };
    case 'answer':
      return answerOutcome(call, result);
  }
}

function answerOutcome<S extends PartnerStep>(
  call: AnsweredCall<S>,
  result: AnswerResult,
): CallOutcome<S> {
  const { status, contentType, retryAfterSeconds } = result;
  const isVerified = result.verdict === 'verified';
  const body = isVerified ? { json: result.json } : result.unverified;
  const reply = {
    status,
    contentType,
    retryAfterSeconds,
    signature: isVerified ? ('valid' as const) : result.signature,
    json: body && { value: body.json },
  };
  return judgeReply(call, reply);
}
