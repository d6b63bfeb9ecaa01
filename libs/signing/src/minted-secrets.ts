/** Makes keys, secrets and tokens of 256 random bits each, so that a plain SHA-256 is a safe hash to store. */
import { createHash, randomBytes } from 'node:crypto';

const SECRET_BYTES = 32;

/** 43 characters of base64url. */
function randomText(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** The credential that a partner receives once: the key identifies the caller, the secret signs the messages. */
export interface MintedCredential {
  /** `svck_` and 43 characters of base64url. */
  readonly apiKey: string;
  /** `svcs_` and 43 characters of base64url. */
  readonly sharedSecret: string;
}

export function mintCredential(): MintedCredential {
  return { apiKey: `svck_${randomText()}`, sharedSecret: `svcs_${randomText()}` };
}

/** The 32 bytes that are stored instead of an API key. */
export function hashApiKey(apiKey: string): Buffer {
  return sha256(apiKey);
}

const API_KEY = /^svck_[A-Za-z0-9_-]{43}$/;

/** Whether the text has the form of an API key; any other text needs no look-up. */
export function isApiKey(text: string): boolean {
  return API_KEY.test(text);
}

/** All bearer tokens have this prefix, by which logs recognise and hide them. */
const TOKEN = /^svct_[A-Za-z0-9_-]{43}$/;

/** A new token of a session, a link or an invitation, and its hash; only the hash is stored. */
export function newToken(): { readonly token: string; readonly tokenHash: Buffer } {
  const token = `svct_${randomText()}`;
  return { token, tokenHash: sha256(token) };
}

/** Undefined where the text does not have the form of a token. */
export function hashToken(token: string | undefined): Buffer | undefined {
  return token === undefined || !TOKEN.test(token) ? undefined : sha256(token);
}

/** A new signing secret of a webhook in the form of Standard Webhooks: `whsec_` and base64. */
export function mintWebhookSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
}

/** The context for sealing a webhook's secret, which then opens for its own subscription only. */
export function webhookSealContext(subscription: string): Buffer {
  return Buffer.from(`webhook:${subscription}`);
}
