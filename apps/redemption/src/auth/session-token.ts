/** The bearer token of a session: opaque, unguessable, and known by its hash only. */
import { createHash, randomBytes } from 'node:crypto';

const BEARER = /^Bearer (svct_[A-Za-z0-9_-]{43})$/i;

export function mintSessionToken(): string {
  return `svct_${randomBytes(32).toString('base64url')}`;
}

/** SHA-256: the token has 256 random bits, so a slow hash would add nothing. */
export function hashSessionToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** @param header Authorization, whatever was sent; undefined where it does not hold a token of ours */
export function bearerHash(header: string | undefined): Buffer | undefined {
  const token = BEARER.exec(header ?? '')?.[1];
  return token === undefined ? undefined : hashSessionToken(token);
}
