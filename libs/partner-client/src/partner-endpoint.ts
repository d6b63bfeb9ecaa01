import { PermanentError, signedContent, type UuidV7 } from '#libs/domain';
import { redact as redactOwn } from '#libs/platform';
import { hmacSha256Hex, verifySignature } from '#libs/signing';

export interface PartnerEndpointFields {
  /** Ours. */
  readonly partnerId: string;
  /** Where the partner's four endpoints are. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly sharedSecret: string;
}

/** What identifies a call and its answer; method and path are those of the request line. */
export interface CallIdentity {
  readonly method: string;
  readonly path: string;
  readonly requestId: UuidV7;
}

const HEADER_TEXT = /^[\x21-\x7e]{1,512}$/;
const REDACTED = '[redacted]';
/** The head of a secret that something cut off is told from chance by its length. */
const SHORTEST_HEAD = 6;

/**
 * A partner as we call it. Holds the key and the secret where neither JSON nor an inspection of the object shows them, and lends
 * what they do instead of what they are.
 */
export class PartnerEndpoint {
  readonly partnerId: string;
  readonly baseUrl: string;
  readonly #apiKey: string;
  readonly #sharedSecret: string;

  /** @throws PermanentError PARTNER_CREDENTIAL_INVALID for a key that is no header, or an empty secret; shows neither */
  constructor({ partnerId, baseUrl, apiKey, sharedSecret }: PartnerEndpointFields) {
    if (!HEADER_TEXT.test(apiKey) || sharedSecret === '') {
      throw new PermanentError(
        'PARTNER_CREDENTIAL_INVALID',
        `The callback key or secret of partner ${partnerId} is unusable: a key is 1 to 512 visible ASCII characters, a secret is not empty. Set both again.`,
      );
    }
    this.partnerId = partnerId;
    this.baseUrl = baseUrl;
    this.#apiKey = apiKey;
    this.#sharedSecret = sharedSecret;
  }

  /** For `X-API-KEY`; nothing else may take it. */
  apiKeyHeader(): string {
    return this.#apiKey;
  }

  /** `X-API-SIGNATURE` of a request: lower-case hex of the HMAC over METHOD + PATH + X-API-REQUEST + BODY. */
  sign(call: CallIdentity, body: string): string {
    return hmacSha256Hex(this.#sharedSecret, signedContent({ ...call, body }));
  }

  /** Whether the signature belongs to this body as the answer to this call; in constant time. */
  verify(call: CallIdentity, body: Uint8Array, signature: string): boolean {
    const content = Buffer.concat([Buffer.from(signedContent({ ...call, body: '' })), body]);
    return verifySignature(this.#sharedSecret, content, signature);
  }

  /**
   * The text without this partner's key and secret, plain or escaped in JSON or URLs, and without anything that looks like a
   * credential of ours; also without the head of one at the very end, where a text was cut off.
   */
  redact(text: string): string {
    let clean = text;
    for (const secret of [this.#sharedSecret, this.#apiKey]) {
      for (const form of formsOf(secret)) {
        clean = withoutHead(clean.replaceAll(form, REDACTED), form);
      }
    }
    return redactOwn(clean);
  }
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
