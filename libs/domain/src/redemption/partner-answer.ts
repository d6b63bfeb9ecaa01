/**
 * Interprets the reply to a call: its form by the tables of the partner interface (exact types, lengths and ranges, no
 * coercion; further fields are allowed and kept), its signature and its status. A reply that stays unclear is
 * `unknown`, never a guess. Transport faults without a reply (timeout, reset, …) are outcomes already, and are not
 * handled in this file.
 */
import { type Address, parseAddress } from '../chain/address.js';
import {
  type CallOutcome,
  PARTNER_ERROR_CODES,
  type PartnerAnswers,
  type PartnerErrorCode,
  type PartnerStep,
  type UnknownReason,
} from './partner-call.js';

/** Longest id that a partner gives (transaction, revert, user), in UTF-16 code units. */
const MAX_ID_LENGTH = 255;
const MAX_CHAIN_LENGTH = 64;
const MAX_CODE_LENGTH = 64;
const MAX_MESSAGE_LENGTH = 2000;

/** Control characters (PostgreSQL refuses U+0000) and lone surrogates (canonical JSON refuses them). */
const UNSTORABLE = /[\p{Cc}\p{Cs}]/u;

/** The members of an answer that the interface does not define. */
export type ExtraFields = Readonly<Record<string, unknown>>;

export type ParsedAnswer<S extends PartnerStep> =
  | { readonly kind: 'success'; readonly answer: PartnerAnswers[S]; readonly extra: ExtraFields }
  | {
      readonly kind: 'error';
      /** Undefined for a code that the interface does not define. */
      readonly code: PartnerErrorCode | undefined;
      readonly errorCode: string;
      /** Cut at 2000 characters. */
      readonly errorMessage: string;
      readonly extra: ExtraFields;
    }
  | {
      readonly kind: 'invalid';
      /** `success-not-boolean` also where the answer is no object. */
      readonly fault: 'success-not-boolean' | 'invalid-field';
      /** The first wrong field. */
      readonly field: string;
    };

type Json = Readonly<Record<string, unknown>>;
type FieldReader<T> = (value: unknown) => T | undefined;
type FieldReaders<T> = { readonly [K in keyof T]: FieldReader<T[K]> };

const READERS: { readonly [S in PartnerStep]: FieldReaders<PartnerAnswers[S]> } = {
  balance: {
    partnerUserId: partnerId,
    address: (value) => (typeof value === 'string' ? parseAddress(value) : undefined),
    points: wholePoints,
    chain: (value) => storableText(value, MAX_CHAIN_LENGTH),
  },
  deduct: { partnerTransactionId: partnerId },
  revert: { partnerTransactionId: partnerId, partnerRevertId: partnerId },
  confirm: {},
};

/** Never throws: a value of any other form is `invalid`. @param value parsed JSON */
export function parsePartnerAnswer<S extends PartnerStep>(
  step: S,
  value: unknown,
): ParsedAnswer<S> {
  if (!isObject(value) || typeof value['success'] !== 'boolean') {
    return { kind: 'invalid', fault: 'success-not-boolean', field: 'success' };
  }
  if (!value['success']) return parseEnvelope(value);
  const readers: FieldReaders<PartnerAnswers[S]> = READERS[step];
  const answer: Partial<PartnerAnswers[S]> = {};
  for (const field in readers) {
    const read = Object.hasOwn(value, field) ? readers[field](value[field]) : undefined;
    if (read === undefined) return { kind: 'invalid', fault: 'invalid-field', field };
    answer[field] = read;
  }
  const extra = without(value, ['success', ...Object.keys(readers)]);
  // Each reader has set its field, so the answer is complete.
  return { kind: 'success', answer: answer as PartnerAnswers[S], extra };
}

function parseEnvelope(value: Json): ParsedAnswer<never> {
  const errorCode = storableText(value['errorCode'], MAX_CODE_LENGTH);
  if (errorCode === undefined) {
    return { kind: 'invalid', fault: 'invalid-field', field: 'errorCode' };
  }
  const message = value['errorMessage'];
  if (typeof message !== 'string') {
    return { kind: 'invalid', fault: 'invalid-field', field: 'errorMessage' };
  }
  return {
    kind: 'error',
    code: PARTNER_ERROR_CODES.find((code) => code === errorCode),
    errorCode,
    errorMessage: message.slice(0, MAX_MESSAGE_LENGTH),
    extra: without(value, ['success', 'errorCode', 'errorMessage']),
  };
}

/**
 * A partner's id: a string of 1 to 255 characters that can be stored, signed and sent back; undefined for any other
 * value.
 */
export function partnerId(value: unknown): string | undefined {
  return storableText(value, MAX_ID_LENGTH);
}

/** The transaction id of a deduction in an answer, even where the answer is otherwise invalid. */
export function transactionIdIn(value: unknown): string | undefined {
  return isObject(value) && Object.hasOwn(value, 'partnerTransactionId')
    ? partnerId(value['partnerTransactionId'])
    : undefined;
}

function storableText(value: unknown, maxLength: number): string | undefined {
  if (typeof value !== 'string' || value.length === 0 || value.length > maxLength) return undefined;
  return UNSTORABLE.test(value) ? undefined : value;
}

/** 0 or a positive integer that a JSON number represents exactly. */
function wholePoints(value: unknown): bigint | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0
    ? BigInt(value as number)
    : undefined;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function without(value: Json, names: readonly string[]): ExtraFields {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));
}

/** A complete reply: status, headers and body arrived in time and within the size limit. */
export interface PartnerReply {
  readonly status: number;
  readonly contentType?: string | undefined;
  /** Result for `X-API-SIGNATURE` over the raw or the canonical body, compared in constant time. */
  readonly signature: 'valid' | 'missing' | 'wrong';
  /** The parsed body; absent where it is not JSON. */
  readonly json?: { readonly value: unknown } | undefined;
  readonly retryAfterSeconds?: number | undefined;
}

export interface AnsweredCall<S extends PartnerStep> {
  readonly step: S;
  /** The wallet of the request. */
  readonly address: Address;
}

/** Statuses besides 200 that may carry the error envelope. 429 and 500 may carry one too, which is never final. */
const ENVELOPE_STATUSES: readonly number[] = [400, 401, 404, 409, 422];
const JSON_TYPE = /^application\/json\s*(;|$)/i;

/**
 * Derives the outcome of a call from its reply. A reply that cannot be believed (`doubtOf`) gives `unknown`, whatever it
 * says: a proxy between us and the partner can invent a refusal as well as a success.
 */
export function judgeReply<S extends PartnerStep>(
  { step, address }: AnsweredCall<S>,
  reply: PartnerReply,
): CallOutcome<S> {
  const { retryAfterSeconds } = reply;
  const value = reply.json?.value;
  const parsed = parsePartnerAnswer(step, value);
  const unknown = (reason: UnknownReason): CallOutcome<S> => {
    const candidate = step === 'deduct' && { candidateTransactionId: transactionIdIn(value) };
    return { kind: 'unknown', reason, retryAfterSeconds, ...candidate };
  };
  const doubt = isDelivery(step, reply, parsed) ? undefined : doubtOf(step, reply, parsed);
  if (doubt !== undefined) return unknown(doubt);
  switch (parsed.kind) {
    case 'invalid':
      return unknown(invalidity(parsed));
    case 'error': {
      const { code } = parsed;
      if (code === undefined || code === 'ERR-INTERNAL') return unknown(reasonOf(code));
      const partnerTransactionId = transactionIdIn(value);
      return { kind: 'refused', code, retryAfterSeconds, partnerTransactionId };
    }
    case 'success': {
      const { answer } = parsed;
      const isOfAnother = 'address' in answer && answer.address !== address;
      return isOfAnother ? unknown('invalid-answer') : { kind: 'succeeded', answer };
    }
  }
}

/** A code that has no meaning at the step counts as an unknown code. */
export function reasonOf(code: PartnerErrorCode | undefined): UnknownReason {
  if (code === 'ERR-AUTH-FAILED') return 'auth-failed';
  return code === 'ERR-INTERNAL' ? 'error-internal' : 'unknown-code';
}

/** Why the reply cannot be believed, or undefined. Its signature is checked before anything of its body counts. */
function doubtOf(
  step: PartnerStep,
  { status, signature, contentType, json }: PartnerReply,
  parsed: ParsedAnswer<PartnerStep>,
): UnknownReason | undefined {
  if (signature === 'wrong') return 'signature-wrong';
  const isJson = json !== undefined && JSON_TYPE.test(contentType ?? '');
  if (status !== 200) {
    if (!ENVELOPE_STATUSES.includes(status)) return statusDoubt(status);
    if (!isJson || parsed.kind !== 'error') return 'no-envelope';
  }
  // The answer to a confirmation moves neither points nor tokens, so it counts unsigned.
  if (signature === 'missing' && step !== 'confirm') return 'signature-missing';
  return isJson ? undefined : 'malformed-json';
}

function statusDoubt(status: number): UnknownReason {
  if (status >= 300 && status < 400) return 'redirect';
  if (status === 429) return 'rate-limited';
  return status >= 500 ? 'server-error' : 'unexpected-status';
}

/** Whether the partner took a confirmation: `success: true` with status 200 is enough, whatever the signature. */
function isDelivery(
  step: PartnerStep,
  { status }: PartnerReply,
  parsed: ParsedAnswer<PartnerStep>,
): boolean {
  return step === 'confirm' && status === 200 && parsed.kind === 'success';
}

function invalidity(parsed: {
  readonly fault: 'success-not-boolean' | 'invalid-field';
  readonly field: string;
}): UnknownReason {
  if (parsed.fault === 'success-not-boolean') return 'success-not-boolean';
  const isId = parsed.field === 'partnerTransactionId' || parsed.field === 'partnerRevertId';
  return isId ? 'invalid-transaction-id' : 'invalid-answer';
}
