import { PermanentError } from '../values/errors.js';

/** A UUID of version 7 (RFC 9562) in lower case: its first 48 bits are Unix milliseconds. */
export type UuidV7 = string & { readonly __brand: 'UuidV7' };

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;
/** Random bytes of one UUID; version and variant replace 6 of their 80 bits. */
export const UUID_V7_RANDOM_BYTES = 10;
const MAX_MS = 2 ** 48 - 1;

/** The UUID in lower case, or undefined where the text is not a UUID of version 7. */
export function parseUuidV7(text: string): UuidV7 | undefined {
  return UUID_V7.test(text) ? (text.toLowerCase() as UuidV7) : undefined;
}

/** The time at which the UUID was minted, Unix milliseconds. */
export function uuidV7Ms(id: UuidV7): number {
  return parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/**
 * @param ms Unix milliseconds, 0 to 2^48 - 1
 * @param random 10 bytes from a cryptographic source
 * @throws PermanentError INVALID_UUID_SOURCE for another time or another number of bytes
 */
export function mintUuidV7(ms: number, random: Uint8Array): UuidV7 {
  if (!Number.isInteger(ms) || ms < 0 || ms > MAX_MS || random.length !== UUID_V7_RANDOM_BYTES) {
    throw new PermanentError(
      'INVALID_UUID_SOURCE',
      'A UUID of version 7 is made of a time in whole milliseconds and 10 random bytes.',
    );
  }
  const bytes = [...random];
  bytes[0] = 0x70 | ((bytes[0] ?? 0) & 0x0f);
  bytes[2] = 0x80 | ((bytes[2] ?? 0) & 0x3f);
  const hex =
    ms.toString(16).padStart(12, '0') +
    bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
  const cuts = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20)];
  return [...cuts, hex.slice(20)].join('-') as UuidV7;
}
