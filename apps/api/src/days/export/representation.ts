/** Chooses the form and the part of a list that a request gets (RFC 9110, sections 8.8, 12.5.3, 13 and 14). */
import { type IncomingHttpHeaders } from 'node:http';
import { type NodeHash } from '#libs/domain';
import { type ByteSpan, type DayLines } from './day-lines.js';

export interface Representation {
  /** 416: the list has none of the requested bytes. */
  readonly status: 200 | 206 | 304 | 416;
  readonly isGzip: boolean;
  readonly etag: string;
  /** The bytes that are sent: the whole list, unless the status is 206. */
  readonly span: ByteSpan;
}

interface Asked {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
}

/**
 * Only the plain form supports ranges, because the bytes of gzip depend on the machine that compresses. A request with
 * `Range` therefore gets the plain form, and the ETag of the gzip form is weak, so that `If-Range` never matches.
 */
export function representationFor(
  { method, headers }: Asked,
  { format, size }: DayLines,
  root: NodeHash,
): Representation {
  const { range, 'accept-encoding': coding } = headers;
  // HTTP defines ranges for GET only.
  const wanted = method === 'GET' ? range : undefined;
  const isGzip = wanted === undefined && acceptsGzip(coding);
  const plainTag = `"${root.slice(2)}.${format}"`;
  const etag = isGzip ? `W/"${root.slice(2)}.${format}.gz"` : plainTag;
  const whole = { isGzip, etag, span: { from: 0, to: size } };
  if (matches(headers['if-none-match'], etag)) return { ...whole, status: 304 };
  const condition = headers['if-range'];
  if (wanted === undefined || (condition !== undefined && condition !== plainTag)) {
    return { ...whole, status: 200 };
  }
  const span = spanOf(wanted, size);
  if (span === undefined) return { ...whole, status: 200 };
  return { ...whole, status: span.from < span.to ? 206 : 416, span };
}

const RANGE = /^bytes=[ \t]*(?:(\d+)-(\d*)|-(\d+))[ \t]*$/i;

/**
 * Undefined where `Range` is ignored, as it does not name exactly one range of bytes. Empty where the list has none of
 * these bytes.
 */
function spanOf(range: string, size: number): ByteSpan | undefined {
  const [, first, last, suffix] = RANGE.exec(range) ?? [];
  if (suffix !== undefined) return { from: Math.max(0, size - Number(suffix)), to: size };
  if (first === undefined) return undefined;
  const from = Number(first);
  if (last === undefined || last === '') return { from, to: size };
  return Number(last) < from ? undefined : { from, to: Math.min(Number(last) + 1, size) };
}

/** Whether `If-None-Match` names the ETag, by weak comparison. */
function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  const opaque = etag.replace(/^W\//, '');
  return [...header.matchAll(/"[^"]*"/g)].some(([tag]) => tag === opaque);
}

/** Whether the client prefers gzip to no compression. */
export function acceptsGzip(header: string | string[] | undefined): boolean {
  const weights = new Map<string, number>();
  for (const member of String(header ?? '').split(',')) {
    const [coding = '', ...parameters] = member.split(';').map((part) => part.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
    weights.set(coding, /^[01](?:\.\d{0,3})?$/.test(weight) ? Number(weight) : 0);
  }
  const any = weights.get('*') ?? 0;
  const gzip = weights.get('gzip') ?? weights.get('x-gzip') ?? any;
  return gzip > 0 && gzip >= (weights.get('identity') ?? 0);
}
