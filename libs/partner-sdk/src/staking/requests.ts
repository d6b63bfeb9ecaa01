/** What callers give, checked before anything is sent. */
import { parseAccountId, parseAddress } from '../address.js';

/** @returns in lower case @throws TypeError */
export function requireAddress(wallet: string): string {
  const address = parseAddress(wallet);
  if (address === undefined) throw new TypeError('wallet must be 0x and 40 hex digits');
  return address;
}

/** @returns in lower case @throws TypeError */
export function requireContract(text: string | undefined): string | undefined {
  const contract = text === undefined ? undefined : parseAccountId(text);
  if (text === undefined || contract !== undefined) return contract;
  throw new TypeError('contract must be eip155:, a chain id, a colon, and 0x with 40 hex digits');
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
