/**
 * Turns what came back over the wire into an outcome. Nothing of a body is believed before its signature is; what is left unclear is
 * `unknown`, never a guess. Transport faults without a reply (timeout, reset, …) are outcomes already.
 */
import { type Address } from '../chain/address.js';
import { type CallOutcome, type PartnerStep, type UnknownReason } from './call-outcome.js';
import { parsePartnerAnswer, type ParsedAnswer, transactionIdIn } from './partner-answer.js';
import { type PartnerPolicy } from './partner-policy.js';

/** A whole reply: status, headers and body arrived in time and within the size limit. */
export interface PartnerReply {
  readonly status: number;
  readonly contentType?: string | undefined;
  /** Of `X-API-SIGNATURE` over the raw or the canonical body, compared in constant time. */
  readonly signature: 'valid' | 'missing' | 'wrong';
  /** The parsed body; absent where it is not JSON. */
  readonly json?: { readonly value: unknown } | undefined;
  readonly retryAfterSeconds?: number | undefined;
}

/** The call it answers. */
export interface AnsweredCall<S extends PartnerStep> {
  readonly step: S;
  /** The wallet we asked about. */
  readonly address: Address;
}

/** Besides 200, the statuses that may bring the error envelope. 429 and 500 may too, and still say nothing that is final. */
const ENVELOPE_STATUSES: readonly number[] = [400, 401, 404, 409, 422];
const JSON_TYPE = /^application\/json\s*(;|$)/i;

export function judgeReply<S extends PartnerStep>(
  { step, address }: AnsweredCall<S>,
  reply: PartnerReply,
  { capabilities }: Pick<PartnerPolicy, 'capabilities'>,
): CallOutcome<S> {
  const retryAfter =
    reply.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: reply.retryAfterSeconds };
  const unknown = (reason: UnknownReason): CallOutcome<S> => {
    const id = step === 'deduct' ? transactionIdIn(reply.json?.value) : undefined;
    const candidate = id === undefined ? {} : { candidateTransactionId: id };
    return { kind: 'unknown', reason, ...retryAfter, ...candidate };
  };
  const parsed = parsePartnerAnswer(step, reply.json?.value);
  const doubt = isDelivery(step, reply, parsed)
    ? undefined
    : (forgery(reply) ??
      statusDoubt(reply.status) ??
      missingSignature(reply, capabilities) ??
      bodyDoubt(reply, parsed));
  if (doubt !== undefined) return unknown(doubt);
  const signed = reply.signature === 'valid';
  switch (parsed.kind) {
    case 'invalid':
      return unknown(invalidity(parsed));
    case 'error': {
      if (parsed.code === undefined) return unknown('unknown-code');
      if (parsed.code === 'ERR-INTERNAL') return unknown('error-internal');
      const id = transactionIdIn(reply.json?.value);
      const known = id === undefined ? {} : { partnerTransactionId: id };
      return { kind: 'refused', code: parsed.code, signed, ...retryAfter, ...known };
    }
    case 'success': {
      const { answer } = parsed;
      if ('address' in answer && answer.address !== address) return unknown('invalid-answer');
      return { kind: 'succeeded', answer };
    }
  }
}

function statusDoubt(status: number): UnknownReason | undefined {
  if (status === 200 || ENVELOPE_STATUSES.includes(status)) return undefined;
  if (status >= 300 && status < 400) return 'redirect';
  if (status === 429) return 'rate-limited';
  return status >= 500 ? 'server-error' : 'unexpected-status';
}

/** A confirmation asks for nothing but `success: true` with 200. */
function isDelivery(
  step: PartnerStep,
  { status }: PartnerReply,
  parsed: ParsedAnswer<PartnerStep>,
): boolean {
  return step === 'confirm' && status === 200 && parsed.kind === 'success';
}

function forgery({ signature }: PartnerReply): UnknownReason | undefined {
  return signature === 'wrong' ? 'signature-wrong' : undefined;
}

/** Every 200 is signed; other statuses need not be, unless the partner is known to sign everything. */
function missingSignature(
  { status, signature }: PartnerReply,
  capabilities: PartnerPolicy['capabilities'],
): UnknownReason | undefined {
  const required = status === 200 || capabilities.includes('signs-all-responses');
  return required && signature === 'missing' ? 'signature-missing' : undefined;
}

function bodyDoubt(
  { status, contentType, json }: PartnerReply,
  parsed: ParsedAnswer<PartnerStep>,
): UnknownReason | undefined {
  const isJson = json !== undefined && JSON_TYPE.test(contentType ?? '');
  if (status === 200) return isJson ? undefined : 'malformed-json';
  return isJson && parsed.kind === 'error' ? undefined : 'no-envelope';
}

function invalidity(parsed: {
  readonly fault: 'success-not-boolean' | 'invalid-field';
  readonly field: string;
}): UnknownReason {
  if (parsed.fault === 'success-not-boolean') return 'success-not-boolean';
  const isId = parsed.field === 'partnerTransactionId' || parsed.field === 'partnerRevertId';
  return isId ? 'invalid-transaction-id' : 'invalid-answer';
}
