/** Reads fields of a request by hand: exact types, nothing coerced, what is not known ignored. All throw UserError 400. */
import { UserError } from './user.error.js';

export type Fields = Readonly<Record<string, unknown>>;

/** Control characters and lone surrogates, which can be neither shown nor hashed. */
const UNSPEAKABLE = /[\p{Cc}\p{Cs}]/u;
const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;

export function requireFields(body: unknown): Fields {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw UserError.badRequest('body', 'The body must be a JSON object.');
  }
  return body as Fields;
}

/** A text of one line. */
export function nameField(fields: Fields, name: string): string {
  const value = own(fields, name);
  if (typeof value !== 'string' || !/^.{1,255}$/su.test(value) || UNSPEAKABLE.test(value)) {
    throw UserError.badRequest(name, `${name} must be a text of 1 to 255 characters.`);
  }
  return value;
}

export function textField(fields: Fields, name: string): string {
  const value = own(fields, name);
  if (typeof value !== 'string') throw UserError.badRequest(name, `${name} must be a text.`);
  return value;
}

/** Of a JSON number: 1 to 2^53 - 1. */
export function countField(fields: Fields, name: string): bigint {
  const value = own(fields, name);
  if (!Number.isSafeInteger(value) || (value as number) < 1) {
    throw UserError.badRequest(name, `${name} must be a whole number above 0.`);
  }
  return BigInt(value as number);
}

export function requireIdempotencyKey(value: unknown): string {
  if (typeof value === 'string' && IDEMPOTENCY_KEY.test(value)) return value;
  throw UserError.badRequest(
    'Idempotency-Key',
    'Idempotency-Key must be given once: 1 to 255 visible ASCII characters, a new one for each redemption.',
  );
}

function own(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}
