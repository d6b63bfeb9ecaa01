/**
 * HTTP Message Signatures (RFC 9421) of our answers in TypeScript, Node's own modules only. Ask for them with
 * `Accept-Signature: sig=();alg="ed25519";nonce="…"`, the nonce fresh for each request.
 *
 * node verify-message.ts [message-signature-vectors.json]    checks every worked example (Node 22.18 or newer)
 */
import { createHash, createHmac, createPublicKey, timingSafeEqual, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';

export interface Answer {
  /** Of your request, as you sent it: method, and path with query. */
  readonly method: string;
  readonly target: string;
  readonly status: number;
  /** Byte for byte; before JSON.parse. */
  readonly body: Uint8Array;
  /** Content-Digest; of a list of a day X-Sealed-Day in its place; Signature-Input and Signature. */
  readonly contentDigest?: string;
  readonly sealedDay?: string;
  readonly signatureInput: string;
  readonly signature: string;
}

export interface Keys {
  /** `x` by `kid`, from /.well-known/http-message-signatures-directory: fetched once, over TLS, and kept. */
  readonly publicKeys: Readonly<Record<string, string>>;
  /** Yours, for hmac-sha256. */
  readonly sharedSecret?: string;
}

export interface Expected {
  /** What this request asked for; '': none. */
  readonly nonce: string;
  /** Seconds: answers that are more than five minutes older or newer are refused. */
  readonly now: number;
  /** Of a list of a day 'x-sealed-day': that header is signed in place of the body, which its root proves. */
  readonly covered: 'content-digest' | 'x-sealed-day';
}

const OF_REQUEST = '"@status" "@method";req "@path";req "@query";req';

export function isOurAnswer(answer: Answer, keys: Keys, expected: Expected): boolean {
  const { method, target, status, body, contentDigest, sealedDay } = answer;
  const { nonce, now, covered } = expected;
  const value = covered === 'content-digest' ? contentDigest : sealedDay;
  const digest = createHash('sha256').update(body).digest('base64');
  if (covered === 'content-digest' && value !== `sha-256=:${digest}:`) return false;
  const parameters = answer.signatureInput.replace(/^sig=/, '');
  if (!parameters.startsWith(`(${OF_REQUEST} "${covered}");`)) return false;
  const text = (name: string) => new RegExp(`;${name}="([^"\\\\]*)"`).exec(parameters)?.[1] ?? '';
  const created = Number(/;created=(\d{1,15})(?:;|$)/.exec(parameters)?.[1]);
  if (text('nonce') !== nonce || !(Math.abs(now - created) <= 300)) return false;
  const [path = '', ...query] = target.split(/(?=\?)/);
  const base = [
    `"@status": ${status}`,
    `"@method";req: ${method}`,
    `"@path";req: ${path}`,
    `"@query";req: ${query.join('') || '?'}`,
    `"${covered}": ${value}`,
    `"@signature-params": ${parameters}`,
  ].join('\n');
  const given = Buffer.from(
    /^sig=:([A-Za-z0-9+/=]+):$/.exec(answer.signature)?.[1] ?? '',
    'base64',
  );
  if (text('alg') === 'ed25519') {
    const kid = text('keyid');
    const x = Object.hasOwn(keys.publicKeys, kid) ? keys.publicKeys[kid] : undefined;
    if (x === undefined) return false;
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    return verify(null, Buffer.from(base), key, given);
  }
  if (text('alg') !== 'hmac-sha256' || keys.sharedSecret === undefined) return false;
  const made = createHmac('sha256', keys.sharedSecret).update(base).digest();
  return given.length === made.length && timingSafeEqual(given, made);
}

// ---- The rest checks the worked examples. ----

type Vector = Omit<Answer, 'body'> & Expected & { readonly name: string; readonly body?: string };

interface Vectors {
  readonly publicKey: { readonly kid: string; readonly x: string };
  readonly secret: string;
  readonly vectors: Vector[];
  readonly lists?: Vector[];
}

const file =
  process.argv[2] ?? new URL('../../wire/message-signature-vectors.json', import.meta.url);
const { publicKey, secret, ...groups } = JSON.parse(readFileSync(file, 'utf8')) as Vectors;
const vectors = [...groups.vectors, ...(groups.lists ?? [])];
const keys = { publicKeys: { [publicKey.kid]: publicKey.x }, sharedSecret: secret };
const wrong = vectors.filter((vector) => {
  const answer = { ...vector, body: Buffer.from(vector.body ?? '') };
  const another = { ...answer, target: `${answer.target}1` };
  return !isOurAnswer(answer, keys, vector) || isOurAnswer(another, keys, vector);
});
for (const { name } of wrong) console.log(`WRONG  ${name}`);
console.log(`${vectors.length - wrong.length} of ${vectors.length} vectors verified`);
process.exitCode = vectors.length > 0 && wrong.length === 0 ? 0 : 1;
