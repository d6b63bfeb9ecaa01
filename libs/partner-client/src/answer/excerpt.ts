/** Somebody else's text, made fit to be kept: bounded, in one line, without control characters, without our secrets. */
import { type PartnerEndpoint } from '../partner-endpoint.js';

const CONTROL = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]+/gu;

/** @param longest in UTF-16 code units */
export function boundedText(text: string, longest: number, endpoint: PartnerEndpoint): string {
  // Redacted before it is cut, so that no cut goes through a secret.
  const clean = endpoint.redact(text).replace(CONTROL, ' ');
  if (clean.length <= longest) return clean;
  // A pair of surrogates is not cut in the middle either: half a pair cannot be stored.
  return `${clean.slice(0, longest - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** The body as text, whatever it is; what is no UTF-8 becomes replacement characters. */
export function excerptOf(body: Uint8Array, longest: number, endpoint: PartnerEndpoint): string {
  return boundedText(new TextDecoder().decode(body), longest, endpoint);
}
