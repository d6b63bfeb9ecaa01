/** Checks the arguments of a call before anything is sent. */
import { parseAccountId, parseAddress } from '../address.js';
import { PublicKeysError } from '../signing/message-signature.js';
import { isDay } from './days.js';

/** @returns the address in lower case @throws TypeError */
export function requireAddress(wallet: string, name = 'wallet'): string {
  const address = parseAddress(wallet);
  if (address === undefined) throw new TypeError(`${name} must be 0x and 40 hex digits`);
  return address;
}

/** @returns the contract in lower case @throws TypeError */
export function requireContract(text: string | undefined): string | undefined {
  const contract = text === undefined ? undefined : parseAccountId(text);
  if (text === undefined || contract !== undefined) return contract;
  throw new TypeError('contract must be eip155:, a chain id, a colon, and 0x with 40 hex digits');
}

/** @returns the given text @throws TypeError */
export function requireDay(name: string, text: string): string {
  if (isDay(text)) return text;
  throw new TypeError(`${name} must be a day of the calendar such as 2026-11-20`);
}

/** An Ed25519 public key in base64url. */
const PUBLIC_KEY = /^[A-Za-z0-9_-]{43}$/;

/** @throws TypeError */
export function requirePublicKeys(keys: Readonly<Record<string, unknown>>): void {
  if (Object.values(keys).every((x) => typeof x === 'string' && PUBLIC_KEY.test(x))) return;
  throw new PublicKeysError();
}

/** The URL with all parameters that are defined, in their order. No parameter has characters that need encoding. */
export function urlOf(
  endpoint: string,
  query: Readonly<Record<string, string | number | undefined>>,
): string {
  const parts = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${value}`],
  );
  return parts.length === 0 ? endpoint : `${endpoint}?${parts.join('&')}`;
}

/** @throws RangeError */
export function requireRange(
  name: string,
  value: number,
  range: { readonly from: number; readonly to: number },
): void {
  if (!Number.isInteger(value) || value < range.from || value > range.to) {
    throw new RangeError(`${name} must be a whole number from ${range.from} to ${range.to}`);
  }
}
