/**
 * Reads a partner's answer, whatever it is, against the interface's tables: exact types, lengths and ranges, nothing coerced.
 * Fields beyond the interface are allowed and kept.
 */
import { parseAddress } from '../chain/address.js';
import {
  PARTNER_ERROR_CODES,
  type PartnerAnswers,
  type PartnerErrorCode,
  type PartnerStep,
} from './call-outcome.js';

/** Longest id of a partner: transaction, revert, user. UTF-16 code units. */
const MAX_ID_LENGTH = 255;
const MAX_CHAIN_LENGTH = 64;
const MAX_CODE_LENGTH = 64;
const MAX_MESSAGE_LENGTH = 2000;

/** Control characters (PostgreSQL refuses U+0000) and lone surrogates (canonical JSON refuses them). */
const UNSPEAKABLE = /[\p{Cc}\p{Cs}]/u;

/** The members of an answer that the interface does not name. */
export type ExtraFields = Readonly<Record<string, unknown>>;

export type ParsedAnswer<S extends PartnerStep> =
  | { readonly kind: 'success'; readonly answer: PartnerAnswers[S]; readonly extra: ExtraFields }
  | {
      readonly kind: 'error';
      /** Undefined for a code that the interface does not name. */
      readonly code: PartnerErrorCode | undefined;
      readonly errorCode: string;
      /** Cut at 2000 characters. */
      readonly errorMessage: string;
      readonly extra: ExtraFields;
    }
  | {
      readonly kind: 'invalid';
      /** `success-not-boolean` also for what is not an object at all. */
      readonly fault: 'success-not-boolean' | 'invalid-field';
      /** The first field that is wrong. */
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
    chain: (value) => speakable(value, MAX_CHAIN_LENGTH),
  },
  deduct: { partnerTransactionId: partnerId },
  revert: { partnerTransactionId: partnerId, partnerRevertId: partnerId },
  confirm: {},
};

/** @param value parsed JSON; anything else is invalid, nothing throws */
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
  // Every reader has given its field.
  return { kind: 'success', answer: answer as PartnerAnswers[S], extra };
}

function parseEnvelope(value: Json): ParsedAnswer<never> {
  const errorCode = speakable(value['errorCode'], MAX_CODE_LENGTH);
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

/** A partner's id: a string of 1 to 255 characters that can be stored, signed and sent back; undefined for all else. */
export function partnerId(value: unknown): string | undefined {
  return speakable(value, MAX_ID_LENGTH);
}

/** The id of a deduction that an answer names, valid or not otherwise. */
export function transactionIdIn(value: unknown): string | undefined {
  return isObject(value) && Object.hasOwn(value, 'partnerTransactionId')
    ? partnerId(value['partnerTransactionId'])
    : undefined;
}

function speakable(value: unknown, maxLength: number): string | undefined {
  if (typeof value !== 'string' || value.length === 0 || value.length > maxLength) return undefined;
  return UNSPEAKABLE.test(value) ? undefined : value;
}

/** 0 or a positive integer that a JSON number says exactly. */
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
