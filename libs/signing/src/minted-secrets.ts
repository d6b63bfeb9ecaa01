/** Keys, secrets and tokens that are handed out, each with 256 random bits: SHA-256 is enough where only a hash is stored. */
import { createHash, randomBytes } from 'node:crypto';

const SECRET_BYTES = 32;

/** 43 characters of base64url. */
function randomText(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** What a partner gets once and keeps: the key says who calls, the secret proves who answers. */
export interface MintedCredential {
  /** `svck_` and 43 characters of base64url. */
  readonly apiKey: string;
  /** `svcs_` and 43 characters of base64url. */
  readonly sharedSecret: string;
}

/** A new key and secret, 256 random bits each. */
export function mintCredential(): MintedCredential {
  return { apiKey: `svck_${randomText()}`, sharedSecret: `svcs_${randomText()}` };
}

/** What is stored instead of an API key: 32 bytes. */
export function hashApiKey(apiKey: string): Buffer {
  return sha256(apiKey);
}

const API_KEY = /^svck_[A-Za-z0-9_-]{43}$/;

/** Whether the text has the form of an API key; what has not is no key and needs no look-up. */
export function isApiKey(text: string): boolean {
  return API_KEY.test(text);
}

/** The prefix is that of all bearer tokens here, by which logs recognise and hide them. */
const TOKEN = /^svct_[A-Za-z0-9_-]{43}$/;

/** A new token, of a session, a link or an invitation, and its hash, by which alone it is kept. */
export function newToken(): { readonly token: string; readonly tokenHash: Buffer } {
  const token = `svct_${randomText()}`;
  return { token, tokenHash: sha256(token) };
}

/** Undefined where it is no token of ours. */
export function hashToken(token: string | undefined): Buffer | undefined {
  return token === undefined || !TOKEN.test(token) ? undefined : sha256(token);
}

/** The signing secret of a webhook in the form of Standard Webhooks: `whsec_` and base64. */
export function mintWebhookSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
}

/** The context of its seal: a sealed secret opens for its own subscription only. */
export function webhookSealContext(subscription: string): Buffer {
  return Buffer.from(`webhook:${subscription}`);
}
