import {
  type AnsweredCall,
  type CallOutcome,
  judgeReply,
  type NothingSentReason,
  type PartnerStep,
  type UnknownReason,
} from '#libs/domain';
import { type NoAnswerCode, type NotSentCode } from '#libs/partner-sdk/answers';
import { type CallResult } from './call-result.js';

/**
 * The exact causes in the domain's terms. The domain only needs the proof that nothing was sent; the call's record
 * keeps the exact cause.
 */
const NOTHING_SENT: Readonly<Record<NotSentCode, NothingSentReason>> = {
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

const UNKNOWN: Readonly<Record<NoAnswerCode, UnknownReason>> = {
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
      return judgeReply(call, { ...result.reply, retryAfterSeconds: result.retryAfterSeconds });
  }
}
