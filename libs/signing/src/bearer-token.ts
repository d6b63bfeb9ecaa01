import { createHash, randomBytes } from 'node:crypto';

/** The prefix is that of all bearer tokens here, by which logs recognise and hide them. */
const TOKEN = /^svct_[A-Za-z0-9_-]{43}$/;

/** Of a session, a link or an invitation: opaque, unguessable, and kept by its hash only. */
export function mintToken(): string {
  return `svct_${randomBytes(32).toString('base64url')}`;
}

/**
 * SHA-256: a token has 256 random bits, so a slow hash would add nothing.
 * @returns undefined where it is no token of ours
 */
export function hashToken(token: string | undefined): Buffer | undefined {
  if (token === undefined || !TOKEN.test(token)) return undefined;
  return createHash('sha256').update(token).digest();
}

/** A new token, and its hash. */
export function newToken(): { readonly token: string; readonly tokenHash: Buffer } {
  const token = mintToken();
  return { token, tokenHash: createHash('sha256').update(token).digest() };
}
