/**
 * The form of an answer, by the tables of the partner interface: exact types, lengths and ranges, no coercion. Further
 * fields are allowed.
 */
export const STEPS = ['balance', 'deduct', 'revert', 'confirm'] as const;
export type Step = (typeof STEPS)[number];

/** The codes of the error envelope. */
export const ERROR_CODES = [
  'ERR-AUTH-FAILED',
  'ERR-USER-NOT-FOUND',
  'ERR-DUPLICATE-REQUEST',
  'ERR-INSUFFICIENT-POINTS',
  'ERR-TRANSACTION-NOT-FOUND',
  'ERR-ALREADY-REVERTED',
  'ERR-INVALID-AMOUNT',
  'ERR-REDEMPTION-NOT-FOUND',
  'ERR-INTERNAL',
] as const;
export type ErrorCode = (typeof ERROR_CODES)[number];

export type Json = Readonly<Record<string, unknown>>;

export type AnswerForm =
  /** `wrong`: names of the fields that are missing or wrong. */
  | { readonly kind: 'success'; readonly fields: Json; readonly wrong: readonly string[] }
  | {
      readonly kind: 'refusal';
      /** Any text; empty where it is missing or wrong. */
      readonly code: string;
      readonly fields: Json;
      readonly wrong: readonly string[];
    }
  /** Not an object whose `success` is true or false. */
  | { readonly kind: 'neither' };

interface FieldRule {
  readonly expected: string;
  readonly isRight: (value: unknown) => boolean;
}

/** Longest id that a partner gives (transaction, revert, user), in UTF-16 code units. */
const MAX_ID_LENGTH = 255;
/** Control characters (PostgreSQL refuses U+0000) and lone surrogates (canonical JSON refuses them). */
const UNSTORABLE = /[\p{Cc}\p{Cs}]/u;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

const textUpTo = (maxLength: number): FieldRule => ({
  expected: `a text of 1 to ${maxLength} characters, without control characters`,
  isRight: (value) => isStorable(value, maxLength),
});
const ID = textUpTo(MAX_ID_LENGTH);

const FIELDS: Readonly<Record<Step, Readonly<Record<string, FieldRule>>>> = {
  balance: {
    partnerUserId: ID,
    address: {
      expected: '0x and 40 hex digits',
      isRight: (value) => typeof value === 'string' && ADDRESS.test(value),
    },
    points: {
      expected: 'a whole number, 0 or more, as a JSON number',
      isRight: (value) => Number.isSafeInteger(value) && (value as number) >= 0,
    },
    chain: textUpTo(64),
  },
  deduct: { partnerTransactionId: ID },
  revert: { partnerTransactionId: ID, partnerRevertId: ID },
  confirm: {},
};

const ENVELOPE: Readonly<Record<string, FieldRule>> = {
  errorCode: textUpTo(64),
  errorMessage: { expected: 'a text', isRight: (value) => typeof value === 'string' },
};

/** What a field of the interface must be; empty for other names. */
export function expectedOf(name: string): string {
  const tables = [...Object.values(FIELDS), ENVELOPE];
  return tables.find((fields) => Object.hasOwn(fields, name))?.[name]?.expected ?? '';
}

/** Never throws. @param value parsed JSON */
export function formOf(step: Step, value: unknown): AnswerForm {
  if (!isObject(value) || typeof value['success'] !== 'boolean') return { kind: 'neither' };
  if (value['success']) {
    return { kind: 'success', fields: value, wrong: wrongIn(value, FIELDS[step]) };
  }
  const wrong = wrongIn(value, ENVELOPE);
  const code = wrong.includes('errorCode') ? '' : (value['errorCode'] as string);
  return { kind: 'refusal', code, fields: value, wrong };
}

function wrongIn(value: Json, rules: Readonly<Record<string, FieldRule>>): string[] {
  return Object.entries(rules).flatMap(([name, { isRight }]) =>
    Object.hasOwn(value, name) && isRight(value[name]) ? [] : [name],
  );
}

/**
 * A partner's id: a string of 1 to 255 characters that can be stored, signed and sent back; undefined for any other
 * value.
 */
export function partnerId(value: unknown): string | undefined {
  return isStorable(value, MAX_ID_LENGTH) ? value : undefined;
}

/** The transaction id of a deduction in an answer, even where the answer is otherwise wrong. */
export function transactionIdIn(value: unknown): string | undefined {
  return isObject(value) && Object.hasOwn(value, 'partnerTransactionId')
    ? partnerId(value['partnerTransactionId'])
    : undefined;
}

function isStorable(value: unknown, maxLength: number): value is string {
  if (typeof value !== 'string' || value.length === 0 || value.length > maxLength) return false;
  return !UNSTORABLE.test(value);
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
