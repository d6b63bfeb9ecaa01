/** How the texts of settings are read. Each throws what is said of the variable. */
import { commaList } from '#libs/config';
import { type Decimal, parseDecimal } from '#libs/domain';

const PRIVATE_KEY = /^(?:0x)?[0-9a-fA-F]{64}$/;
const HOST = /^[a-z0-9.-]+(?::\d{1,5})?$/;

export function privateKey(text: string): string {
  if (!PRIVATE_KEY.test(text)) throw new Error('must be a private key of 64 hex digits');
  return text;
}

export function hosts(text: string): string[] {
  const parts = commaList(text.toLowerCase());
  if (!parts.every((part) => HOST.test(part))) {
    throw new Error('must be host names with their ports, if any, separated by commas');
  }
  return parts;
}

export function tokens(text: string): Decimal {
  if (!/^\d{1,60}(?:\.\d{1,30})?$/.test(text)) throw new Error('must be a decimal, zero or more');
  return parseDecimal(text);
}

/** A decimal as a whole number of the smallest unit. */
export function smallestUnits(decimals: number): (text: string) => bigint {
  return (text) => {
    const { digits, scale } = tokens(text);
    if (scale > decimals) throw new Error(`must have ${decimals} decimals at most`);
    return digits * 10n ** BigInt(decimals - scale);
  };
}
