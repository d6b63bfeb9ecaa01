/** A partner as we call it: its credential, its URL, and the requests to it. */
import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import {
  type Address,
  canonicalJson,
  type ConfirmationPayload,
  mintUuidV7,
  type PartnerId,
  type PartnerRequest,
  type PartnerStep,
  PermanentError,
  UUID_V7_RANDOM_BYTES,
  type UuidV7,
  uuidV7Ms,
} from '#libs/domain';
import { type Clock, redact as redactOwn } from '#libs/platform';
import { hmacSha256Hex, signedContent, verifySignature } from '#libs/signing';
import { type AddressPolicy, addressRefusal, type PartnerUrl } from './wire/dial.js';

export interface PartnerEndpointFields {
  /** Our id of the partner. */
  readonly partnerId: PartnerId;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly sharedSecret: string;
}

/** Identifies a call and its answer; method and path are those of the request line. */
export interface CallIdentity {
  readonly method: string;
  readonly path: string;
  readonly requestId: UuidV7;
}

const HEADER_TEXT = /^[\x21-\x7e]{1,512}$/;
const REDACTED = '[redacted]';
/** Shortest beginning of a secret that is recognised at the end of a cut text; a shorter one may be there by chance. */
const SHORTEST_HEAD = 6;

/**
 * A partner as we call it. Key and secret are private fields, which neither JSON nor an inspection of the object shows;
 * methods use them on behalf of callers.
 */
export class PartnerEndpoint {
  readonly partnerId: PartnerId;
  readonly baseUrl: string;
  readonly #apiKey: string;
  readonly #sharedSecret: string;

  /** @throws PermanentError PARTNER_CREDENTIAL_INVALID */
  constructor({ partnerId, baseUrl, apiKey, sharedSecret }: PartnerEndpointFields) {
    requireUsableCredential(partnerId, { apiKey, sharedSecret });
    this.partnerId = partnerId;
    this.baseUrl = baseUrl;
    this.#apiKey = apiKey;
    this.#sharedSecret = sharedSecret;
  }

  /** Value of `X-API-KEY`; must not be used for anything else. */
  apiKeyHeader(): string {
    return this.#apiKey;
  }

  /** `X-API-SIGNATURE` of a request: lower-case hex of the HMAC over METHOD + PATH + X-API-REQUEST + BODY. */
  sign(call: CallIdentity, body: string): string {
    return hmacSha256Hex(this.#sharedSecret, signedContent({ ...call, body }));
  }

  /** Whether the signature is valid for this body as the answer to this call; compares in constant time. */
  verify(call: CallIdentity, body: Uint8Array, signature: string): boolean {
    const content = Buffer.concat([Buffer.from(signedContent({ ...call, body: '' })), body]);
    return verifySignature(this.#sharedSecret, content, signature);
  }

  /** Removes this partner's key and secret from the text. */
  redact(text: string): string {
    return withoutSecrets(text, [this.#sharedSecret, this.#apiKey]);
  }
}

/**
 * @param partner as the message names it
 * @throws PermanentError PARTNER_CREDENTIAL_INVALID for an empty secret, or a key that no header can carry; shows
 *   neither
 */
export function requireUsableCredential(
  partner: string,
  { apiKey, sharedSecret }: Pick<PartnerEndpointFields, 'apiKey' | 'sharedSecret'>,
): void {
  if (HEADER_TEXT.test(apiKey) && sharedSecret !== '') return;
  throw new PermanentError(
    'PARTNER_CREDENTIAL_INVALID',
    `The callback key or secret of partner ${partner} is unusable: a key is 1 to 512 visible ASCII characters, a secret is not empty. Set both again.`,
  );
}

/**
 * Removes the secrets, plain or escaped in JSON or URLs, and anything that looks like a credential of ours. Also
 * removes the beginning of a secret at the very end, where a text was cut off.
 */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets) {
    for (const form of formsOf(secret)) {
      clean = withoutHead(clean.replaceAll(form, REDACTED), form);
    }
  }
  return redactOwn(clean);
}

function formsOf(secret: string): Set<string> {
  const escaped = JSON.stringify(secret).slice(1, -1);
  const slashed = escaped.replaceAll('/', '\\/');
  return new Set([secret, escaped, slashed, encodeURIComponent(Buffer.from(secret).toString())]);
}

function withoutHead(text: string, secret: string): string {
  for (let length = secret.length - 1; length >= SHORTEST_HEAD; length--) {
    if (text.endsWith(secret.slice(0, length))) return text.slice(0, -length) + REDACTED;
  }
  return text;
}

export type PartnerUrlFault = 'invalid-url' | 'blocked-address';

export type ParsedPartnerUrl =
  | { readonly ok: true; readonly url: PartnerUrl }
  | { readonly ok: false; readonly fault: PartnerUrlFault; readonly message: string };

const MAX_LENGTH = 2000;

/**
 * Parses a partner's base URL. The WHATWG parser turns every notation of an IPv4 address (decimal, octal, hexadecimal,
 * short, full-width digits) into four decimal numbers, so the address that is checked is the one that is connected to.
 * Names are checked when they are resolved.
 * @returns the fault with a message that never shows the URL, which may hold a credential
 */
export function parsePartnerUrl(text: string, policy: AddressPolicy): ParsedPartnerUrl {
  if (text.length > MAX_LENGTH || !URL.canParse(text)) return invalid('is not a URL');
  const url = new URL(text);
  const isTls = url.protocol === 'https:';
  if (!isTls && !(policy.allowPrivate && url.protocol === 'http:')) {
    return invalid('does not begin with https://');
  }
  if (url.username !== '' || url.password !== '') return invalid('holds a user or a password');
  // An empty query or fragment shows in the text only, not in the parsed URL.
  if (/[?#]/.test(text)) return invalid('holds a query or a fragment');
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(host) !== 0) {
    const range = addressRefusal(host, policy);
    if (range !== undefined) {
      const message = `The partner's URL names an address that is not public (${range}).`;
      return { ok: false, fault: 'blocked-address', message };
    }
  }
  const port = url.port === '' ? (isTls ? 443 : 80) : Number(url.port);
  if (port === 0) return invalid('names port 0');
  const basePath = url.pathname.replace(/\/+$/, '');
  return { ok: true, url: { isTls, origin: url.origin, host, port, basePath } };
}

function invalid(what: string): ParsedPartnerUrl {
  return { ok: false, fault: 'invalid-url', message: `The partner's URL ${what}.` };
}

export type PartnerCall =
  | PartnerRequest
  | { readonly step: 'balance'; readonly address: Address }
  | { readonly step: 'confirm'; readonly body: ConfirmationPayload };

export interface Route {
  readonly method: 'GET' | 'POST';
  /** Appended to the path of the base URL. */
  readonly path: string;
  /** True where the call changes nothing at the partner; its deadline is then the shorter one. */
  readonly isRead: boolean;
}

/** The routes of part B of the partner interface. */
export const ROUTES: Readonly<Record<PartnerStep, Route>> = {
  balance: { method: 'GET', path: '/get-points-by-address', isRead: true },
  deduct: { method: 'POST', path: '/deduct-points-by-address', isRead: false },
  revert: { method: 'POST', path: '/revert-deduct-points', isRead: false },
  confirm: { method: 'POST', path: '/confirm-redemption', isRead: false },
};

/** A request as sent: the bytes of path and body are the bytes that are signed. */
export interface SignedRequest {
  readonly identity: CallIdentity;
  /** Target of the request line: the path, and the query, which is not signed. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Canonical JSON (RFC 8785); empty where the request has no body. */
  readonly body: string;
}

/** @throws PermanentError NOT_JSON where the call's body has no JSON form */
export function signedRequest(
  call: PartnerCall,
  requestId: UuidV7,
  { endpoint, url }: { readonly endpoint: PartnerEndpoint; readonly url: PartnerUrl },
): SignedRequest {
  const { method, path: route } = ROUTES[call.step];
  const path = url.basePath + route;
  const query =
    call.step === 'balance' ? `?${new URLSearchParams({ address: call.address }).toString()}` : '';
  const body = call.step === 'balance' ? '' : canonicalJson(call.body);
  const identity = { method, path, requestId };
  const headers = {
    'X-API-KEY': endpoint.apiKeyHeader(),
    'X-API-REQUEST': requestId,
    'X-API-SIGNATURE': endpoint.sign(identity, body),
    Accept: 'application/json',
    // The signature is over the bytes that the partner sends: it cannot be verified over bytes that a proxy compressed.
    'Accept-Encoding': 'identity',
    ...(body !== '' && { 'Content-Type': 'application/json' }),
  };
  return { identity, target: path + query, headers, body };
}

/**
 * Longest age, in milliseconds, at which an id is still sent. A process may be halted between the commit of an id and
 * its use. A partner accepts an id for 300 s by its own clock; that no copy of a call has an effect ten minutes later
 * rests on this limit, and on an early sending.
 */
const LONGEST_AGE_MS = 60_000;

/** A new `X-API-REQUEST`, one for each attempt: a UUIDv7 of the current time. */
export function newRequestId(clock: Clock): UuidV7 {
  return mintUuidV7(clock.nowMs(), randomBytes(UUID_V7_RANDOM_BYTES));
}

/** Whether the id is too old, or was minted by a clock that differs as much. */
export function isStale(id: UuidV7, clock: Clock): boolean {
  return Math.abs(clock.nowMs() - uuidV7Ms(id)) > LONGEST_AGE_MS;
}
