/**
 * HTTP Message Signatures (RFC 9421) of our answers in TypeScript, Node's own modules only. Ask for them with
 * `Accept-Signature: sig=();alg="ed25519"`.
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
  /** Content-Digest, Signature-Input and Signature. */
  readonly contentDigest: string;
  readonly signatureInput: string;
  readonly signature: string;
}

export interface Keys {
  /** `x` by `kid`, from /.well-known/http-message-signatures-directory: fetched once, over TLS, and kept. */
  readonly publicKeys: Readonly<Record<string, string>>;
  /** Yours, for hmac-sha256. */
  readonly sharedSecret?: string;
}

const COVERED = '("@status" "@method";req "@path";req "@query";req "content-digest")';

/** @param nowSeconds answers that are more than five minutes older or newer are refused; undefined: of any age */
export function isOurAnswer(answer: Answer, keys: Keys, nowSeconds?: number): boolean {
  const { method, target, status, body, contentDigest } = answer;
  const digest = createHash('sha256').update(body).digest('base64');
  if (contentDigest !== `sha-256=:${digest}:`) return false;
  const parameters = answer.signatureInput.replace(/^sig=/, '');
  if (!parameters.startsWith(`${COVERED};`)) return false;
  const text = (name: string) => new RegExp(`;${name}="([^"\\\\]*)"`).exec(parameters)?.[1] ?? '';
  const created = Number(/;created=(\d{1,15})(?:;|$)/.exec(parameters)?.[1]);
  if (nowSeconds !== undefined && !(Math.abs(nowSeconds - created) <= 300)) return false;
  const [path = '', ...query] = target.split(/(?=\?)/);
  const base = [
    `"@status": ${status}`,
    `"@method";req: ${method}`,
    `"@path";req: ${path}`,
    `"@query";req: ${query.join('') || '?'}`,
    `"content-digest": ${contentDigest}`,
    `"@signature-params": ${parameters}`,
  ].join('\n');
  const given = Buffer.from(
    /^sig=:([A-Za-z0-9+/=]+):$/.exec(answer.signature)?.[1] ?? '',
    'base64',
  );
  if (text('alg') === 'ed25519') {
    const x = keys.publicKeys[text('keyid')];
    if (x === undefined) return false;
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    return verify(null, Buffer.from(base), key, given);
  }
  if (text('alg') !== 'hmac-sha256' || keys.sharedSecret === undefined) return false;
  const expected = createHmac('sha256', keys.sharedSecret).update(base).digest();
  return given.length === expected.length && timingSafeEqual(given, expected);
}

// ---- The rest checks the worked examples. ----

interface Vectors {
  readonly publicKey: { readonly kid: string; readonly x: string };
  readonly secret: string;
  readonly vectors: (Omit<Answer, 'body'> & { readonly name: string; readonly body: string })[];
}

const file =
  process.argv[2] ?? new URL('../../wire/message-signature-vectors.json', import.meta.url);
const { publicKey, secret, vectors } = JSON.parse(readFileSync(file, 'utf8')) as Vectors;
const keys = { publicKeys: { [publicKey.kid]: publicKey.x }, sharedSecret: secret };
const wrong = vectors.filter((vector) => {
  const answer = { ...vector, body: Buffer.from(vector.body) };
  const another = { ...answer, target: `${answer.target}1` };
  return !isOurAnswer(answer, keys, 1_795_262_400) || isOurAnswer(another, keys, 1_795_262_400);
});
for (const { name } of wrong) console.log(`WRONG  ${name}`);
console.log(`${vectors.length - wrong.length} of ${vectors.length} vectors verified`);
process.exitCode = vectors.length > 0 && wrong.length === 0 ? 0 : 1;
