/**
 * The outcome of a call by its reply. The judgement is that of the partner interface (`#libs/partner-sdk/answers`), by
 * which the tester, the pages and `partner ping` explain an answer too. Transport faults without a reply (timeout,
 * reset, …) are outcomes already, and are not handled in this file.
 */
import {
  type AskedCall,
  believableJson,
  isErrorCode,
  judgeAnswer,
  type Json,
  type Reply,
  transactionIdIn,
} from '#libs/partner-sdk/answers';
import { type Address, parseAddress } from '../values/address.js';
import {
  type CallOutcome,
  type PartnerAnswers,
  type PartnerErrorCode,
  type PartnerStep,
  type UnknownReason,
} from './partner-call.js';

export interface PartnerReply extends Reply {
  readonly retryAfterSeconds?: number | undefined;
}

export interface AnsweredCall<S extends PartnerStep> extends AskedCall {
  readonly step: S;
  /** The wallet of the request. */
  readonly address: Address;
}

type AnswerReaders = { readonly [S in PartnerStep]: (fields: Json) => PartnerAnswers[S] };

/** Of the fields of a success, whose form is right. */
const READERS: AnswerReaders = {
  balance: ({ partnerUserId, address, points, chain }) => ({
    partnerUserId: partnerUserId as string,
    address: parseAddress(address as string) as Address,
    points: BigInt(points as number),
    chain: chain as string,
  }),
  deduct: ({ partnerTransactionId: id }) => ({ partnerTransactionId: id as string }),
  revert: ({ partnerTransactionId: id, partnerRevertId }) => ({
    partnerTransactionId: id as string,
    partnerRevertId: partnerRevertId as string,
  }),
  confirm: () => ({}),
};

export function judgeReply<S extends PartnerStep>(
  call: AnsweredCall<S>,
  reply: PartnerReply,
): CallOutcome<S> {
  const { retryAfterSeconds } = reply;
  const { doubt, form } = judgeAnswer(call, reply);
  const named = transactionIdIn(believableJson(reply)?.value);
  if (doubt === undefined && form.kind === 'success') {
    return { kind: 'succeeded', answer: READERS[call.step](form.fields) };
  }
  if (doubt === undefined && form.kind === 'refusal' && isErrorCode(form.code)) {
    const { code } = form;
    return { kind: 'refused', code, retryAfterSeconds, partnerTransactionId: named };
  }
  const candidate = call.step === 'deduct' && { candidateTransactionId: named };
  return { kind: 'unknown', reason: doubt ?? 'unknown-code', retryAfterSeconds, ...candidate };
}

/** A code that has no meaning at the step counts as an unknown code. */
export function reasonOf(code: PartnerErrorCode | undefined): UnknownReason {
  if (code === 'ERR-AUTH-FAILED') return 'auth-failed';
  return code === 'ERR-INTERNAL' ? 'error-internal' : 'unknown-code';
}
