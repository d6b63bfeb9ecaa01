import {
  createHash,
  createHmac,
  createPublicKey,
  type KeyObject,
  timingSafeEqual,
  verify,
} from 'node:crypto';

/** An answer of the staking API and its request, as `verifyMessage` takes them. */
export interface ReceivedAnswer {
  /** Upper case, as sent. */
  readonly method: string;
  /** The URL as sent, or its path with the query; a fragment is ignored. */
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  /** The bytes as received, before parsing; empty for HEAD. */
  readonly body: Uint8Array;
}

export interface MessageKeys {
  /** `x` by `kid`, as in `/.well-known/http-message-signatures-directory`. Absent: no `ed25519` signature verifies. */
  readonly publicKeys?: Readonly<Record<string, string>>;
  /** The secret of the API key that the request was sent with. Absent: no `hmac-sha256` signature verifies. */
  readonly sharedSecret?: string;
}

export interface MessageExpectation {
  /** The label of `Accept-Signature`; default `sig`. */
  readonly label?: string;
  /** The nonce of `Accept-Signature`: no signature with another nonce, or without one, verifies. Absent: any nonce. */
  readonly nonce?: string | undefined;
  /**
   * Unix time in seconds; a signature that is further away than `toleranceSeconds` does not verify. Absent: any age.
   */
  readonly nowSeconds?: number;
  /** Default: 300. */
  readonly toleranceSeconds?: number;
}

const COVERED = '("@status" "@method";req "@path";req "@query";req "content-digest")';
const TOLERANCE_SECONDS = 300;

/**
 * Whether the service has signed the answer for exactly this request, where the request asked for that with
 * `Accept-Signature` (HTTP Message Signatures, RFC 9421; the service's `docs/wire/message-signatures.md`). An answer
 * with malformed or missing headers does not verify, and causes no error.
 * @throws TypeError where the public key that the answer names is malformed
 */
export function verifyMessage(
  answer: ReceivedAnswer,
  keys: MessageKeys,
  expected: MessageExpectation = {},
): boolean {
  const { label = 'sig', nonce, nowSeconds, toleranceSeconds = TOLERANCE_SECONDS } = expected;
  const parameters = memberOf(answer.headers.get('signature-input'), label);
  const signature = /^:([A-Za-z0-9+/]+=*):$/.exec(
    memberOf(answer.headers.get('signature'), label) ?? '',
  )?.[1];
  if (signature === undefined || parameters?.startsWith(`${COVERED};`) !== true) return false;
  const digest = createHash('sha256').update(answer.body).digest('base64');
  if (answer.headers.get('content-digest') !== `sha-256=:${digest}:`) return false;
  if (nonce !== undefined && textOf(parameters, 'nonce') !== nonce) return false;
  if (nowSeconds !== undefined) {
    const created = Number(/;created=(\d{1,15})(?:;|$)/.exec(parameters)?.[1]);
    if (!(Math.abs(nowSeconds - created) <= toleranceSeconds)) return false;
  }
  const base = Buffer.from(baseOf(answer, digest, parameters));
  return isSigned(base, Buffer.from(signature, 'base64'), { parameters, keys });
}

/** The signature base (RFC 9421, section 2.5). */
function baseOf(
  { status, method, url }: ReceivedAnswer,
  digest: string,
  parameters: string,
): string {
  const target = url.replace(/^[a-zA-Z][a-zA-Z0-9+.-]*:\/\/[^/?#]*/, '').replace(/#.*$/s, '');
  const place = target.indexOf('?');
  const [path, query] =
    place === -1 ? [target, '?'] : [target.slice(0, place), target.slice(place)];
  return [
    `"@status": ${status}`,
    `"@method";req: ${method}`,
    `"@path";req: ${path === '' ? '/' : path}`,
    `"@query";req: ${query}`,
    `"content-digest": sha-256=:${digest}:`,
    `"@signature-params": ${parameters}`,
  ].join('\n');
}

function isSigned(
  base: Buffer,
  given: Buffer,
  { parameters, keys }: { readonly parameters: string; readonly keys: MessageKeys },
): boolean {
  const algorithm = textOf(parameters, 'alg');
  if (algorithm === 'ed25519') {
    const key = publicKeyOf(keys, textOf(parameters, 'keyid') ?? '');
    if (key === undefined) return false;
    return verify(null, base, key, given);
  }
  if (algorithm !== 'hmac-sha256' || keys.sharedSecret === undefined) return false;
  const expected = createHmac('sha256', keys.sharedSecret).update(base).digest();
  return given.length === expected.length && timingSafeEqual(expected, given);
}

function publicKeyOf({ publicKeys = {} }: MessageKeys, kid: string): KeyObject | undefined {
  // The answer names the key: only own properties are keys.
  const x = Object.hasOwn(publicKeys, kid) ? publicKeys[kid] : undefined;
  if (x === undefined) return undefined;
  try {
    return createPublicKey({
      key: { kty: 'OKP', crv: 'Ed25519', x },
      format: 'jwk',
    });
  } catch {
    throw new PublicKeysError();
  }
}

export class PublicKeysError extends TypeError {
  constructor() {
    super(
      'publicKeys must be an object of the keys’ x by their kid, as of /.well-known/http-message-signatures-directory',
    );
  }
}

/** A member of a dictionary of structured fields, as written. Quoted texts in a member may hold commas. */
function memberOf(header: string | null, label: string): string | undefined {
  for (const [, name, member] of (header ?? '').matchAll(
    /(?:^|,\s*)([a-z*][a-z0-9_.*-]*)=((?:"(?:[^"\\]|\\.)*"|[^",])*)/g,
  )) {
    if (name === label) return member;
  }
  return undefined;
}

/** A text parameter; a text with quotes or backslashes counts as absent, since no requested text has them. */
function textOf(parameters: string, name: string): string | undefined {
  return new RegExp(`;${name}="([^"\\\\]*)"`).exec(parameters)?.[1];
}
