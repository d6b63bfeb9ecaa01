import { randomBytes } from 'node:crypto';

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
/** Number of hex digits of the time, which has 48 bits. */
const TIME_DIGITS = 12;

/** A UUID of version 7 (RFC 9562), in lower case; undefined for anything else. */
export function parseRequestId(text: unknown): string | undefined {
  if (typeof text !== 'string') return undefined;
  const id = text.toLowerCase();
  return UUID_V7.test(id) ? id : undefined;
}

/** @param requestId as `parseRequestId` returns it @returns Unix time in milliseconds */
export function requestIdMs(requestId: string): number {
  return Number.parseInt(requestId.replaceAll('-', '').slice(0, TIME_DIGITS), 16);
}

/** A new UUID of version 7, as the service sends in `X-API-REQUEST` of its calls. */
export function newRequestId(nowMs: number): string {
  const time = Math.trunc(nowMs).toString(16).padStart(TIME_DIGITS, '0');
  const bytes = randomBytes(10);
  bytes[0] = ((bytes[0] ?? 0) & 0x0f) | 0x70;
  bytes[2] = ((bytes[2] ?? 0) & 0x3f) | 0x80;
  const hex = time + bytes.toString('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
