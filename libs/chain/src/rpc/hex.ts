/** Quantities and fixed-length data of the JSON-RPC wire, checked before use. */
import { type Address, parseAddress, type BlockHash } from '#libs/domain';

export type Hex = `0x${string}`;

const QUANTITY = /^0x[0-9a-fA-F]{1,64}$/;
const HASH = /^0x[0-9a-f]{64}$/;
const BYTES = /^0x(?:[0-9a-fA-F]{2})*$/;
const LOWER = /^0x[0-9a-f]*$/;

/** A quantity as a safe integer, or undefined. Some nodes write a number in place of hex. */
export function quantity(value: unknown): number | undefined {
  const number = typeof value === 'string' && QUANTITY.test(value) ? Number(value) : value;
  return Number.isSafeInteger(number) && (number as number) >= 0 ? (number as number) : undefined;
}

/** A quantity of any size, because a price may exceed 2^53. */
export function wideQuantity(value: unknown): bigint | undefined {
  if (typeof value === 'string' && QUANTITY.test(value)) return BigInt(value);
  const number = quantity(value);
  return number === undefined ? undefined : BigInt(number);
}

/** The same as `quantity`, without a regular expression for few digits, because it is called for every log. */
export function smallQuantity(value: unknown): number | undefined {
  if (typeof value !== 'string' || value.length < 3 || value.length > 9) return quantity(value);
  if (value.charCodeAt(0) !== 48 || value.charCodeAt(1) !== 120) return undefined;
  let number = 0;
  for (let at = 2; at < value.length; at++) {
    const code = value.charCodeAt(at);
    const letter = code | 32;
    const digit = code < 58 ? code - 48 : letter < 103 ? letter - 87 : -1;
    if (digit < 0 || (code > 57 && digit < 10)) return undefined;
    number = number * 16 + digit;
  }
  return number;
}

/** A 32-byte hash in lower case, or undefined. */
export function hash(value: unknown): BlockHash | undefined {
  if (typeof value !== 'string') return undefined;
  if (HASH.test(value)) return value as BlockHash;
  const lower = value.toLowerCase();
  return HASH.test(lower) ? (lower as BlockHash) : undefined;
}

export function address(value: unknown): Address | undefined {
  return typeof value === 'string' ? parseAddress(value) : undefined;
}

/** Bytes as hex, of any even length, or undefined. */
export function bytes(value: unknown): Hex | undefined {
  return typeof value === 'string' && BYTES.test(value) ? (value as Hex) : undefined;
}

/** Hex digits in lower case, or undefined. Nodes may write them in either case. */
export function lowerHex(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  if (LOWER.test(value)) return value;
  const lower = value.toLowerCase();
  return LOWER.test(lower) ? lower : undefined;
}

export function toQuantity(value: bigint | number): Hex {
  return `0x${value.toString(16)}`;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
