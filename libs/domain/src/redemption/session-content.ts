import { type Address } from '../chain/address.js';
import { canonicalJson } from '../signing/canonical-json.js';

/** Who is signed in, on which page, until when. */
export interface SessionTerms {
  /** SHA-256 of the bearer token, hex. */
  readonly tokenHash: string;
  readonly wallet: Address;
  /** One of SIWE_DOMAINS: the page on which the wallet signed. */
  readonly domain: string;
  readonly expiresAtMs: number;
}

/** The text that the MAC of a session's row is made over. */
export function sessionContent(terms: SessionTerms): string {
  return canonicalJson({ kind: 'lowmark-session-1', ...terms });
}
