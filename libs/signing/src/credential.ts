import { createHash, randomBytes } from 'node:crypto';

/** What a partner gets once and keeps: the key says who calls, the secret proves who answers. */
export interface MintedCredential {
  /** `svck_` and 43 characters of base64url. */
  readonly apiKey: string;
  /** `svcs_` and 43 characters of base64url. */
  readonly sharedSecret: string;
}

const SECRET_BYTES = 32;

/** A new key and secret, 256 random bits each. */
export function mintCredential(): MintedCredential {
  return {
    apiKey: `svck_${randomBytes(SECRET_BYTES).toString('base64url')}`,
    sharedSecret: `svcs_${randomBytes(SECRET_BYTES).toString('base64url')}`,
  };
}

/**
 * What is stored instead of an API key: its SHA-256, 32 bytes. A key has 256 random bits, so there is nothing to guess and
 * no need for a slow hash.
 */
export function hashApiKey(apiKey: string): Buffer {
  return createHash('sha256').update(apiKey).digest();
}

const API_KEY = /^svck_[A-Za-z0-9_-]{43}$/;

/** Whether the text has the form of an API key; what has not is no key and needs no look-up. */
export function isApiKey(text: string): boolean {
  return API_KEY.test(text);
}
