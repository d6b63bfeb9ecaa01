/**
 * Verifies answers without a secret: each request asks for an Ed25519 signature with a nonce of its own, and the answer
 * is verified with the public keys that the service publishes.
 */
import { randomUUID } from 'node:crypto';
import { verifyMessage } from '#libs/partner-sdk';
import { UncheckedError } from './verify.error.js';

const DIRECTORY = '/.well-known/http-message-signatures-directory';
const LABEL = 'public';
const TIMEOUT_MS = 30_000;
/** Limit in bytes, larger than any answer with a day or a proof. */
const MAX_BYTES = 1_000_000;
const MAX_KEYS = 100;
const KEY_TEXT = /^[A-Za-z0-9_-]{43}$/;

type PublicKeys = Readonly<Record<string, string>>;

export class PublicSignatures {
  private keys: Promise<PublicKeys> | undefined;
  /** The id of the key that signed the newest answer; undefined where none of the keys did. */
  private signedBy: string | undefined;

  constructor(private readonly baseUrl: string) {}

  /**
   * As `fetch`. `requireKeyId` reports a missing signature: an error of this function counts as a broken connection.
   */
  readonly fetch: typeof fetch = async (input, init) => {
    const headers = new Headers(init?.headers);
    const asked = headers.get('accept-signature');
    // A list has no signature of its own: it is verified against the root of its day.
    if (asked === null) return fetch(input, init);
    this.signedBy = undefined;
    const nonce = randomUUID();
    headers.set('accept-signature', `${asked}, ${LABEL}=();alg="ed25519";nonce="${nonce}"`);
    const response = await fetch(input, { ...init, headers });
    const body = await bodyOf(response);
    const { status } = response;
    const url = input instanceof Request ? input.url : String(input);
    const answer = { method: 'GET', url, status, headers: response.headers, body };
    for (const [kid, x] of Object.entries(await this.publicKeys())) {
      const keys = { publicKeys: { [kid]: x } };
      if (verifyMessage(answer, keys, { label: LABEL, nonce })) this.signedBy = kid;
    }
    return new Response(Buffer.from(body), { status, headers: response.headers });
  };

  /** @returns the id of the key that signed the newest answer @throws UncheckedError where none did */
  requireKeyId(): string {
    if (this.signedBy !== undefined) return this.signedBy;
    throw new UncheckedError(`its answer is not signed by a key that it shows at ${DIRECTORY}`);
  }

  /** `x` by `kid`; empty where the keys cannot be read, so that no signature is accepted. */
  publicKeys(): Promise<PublicKeys> {
    return (this.keys ??= this.readKeys());
  }

  private async readKeys(): Promise<PublicKeys> {
    try {
      const url = this.baseUrl.replace(/\/+$/, '') + DIRECTORY;
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const response = await fetch(url, { redirect: 'manual', signal });
      return keysIn(JSON.parse(Buffer.from(await bodyOf(response)).toString('utf8')));
    } catch {
      return {};
    }
  }
}

function keysIn(body: unknown): PublicKeys {
  const { keys } = (body ?? {}) as { keys?: unknown };
  const found: Record<string, string> = {};
  for (const key of Array.isArray(keys) ? keys.slice(0, MAX_KEYS) : []) {
    const { kid, x, crv } = (key ?? {}) as Record<string, unknown>;
    if (crv === 'Ed25519' && isKeyText(kid) && isKeyText(x)) found[kid] = x;
  }
  return found;
}

function isKeyText(value: unknown): value is string {
  return typeof value === 'string' && KEY_TEXT.test(value);
}

async function bodyOf(response: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error('The answer is too large.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
