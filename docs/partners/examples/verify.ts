/**
 * Signatures in TypeScript, Node's own modules only.
 *
 * node verify.ts [signature-vectors.json]    checks every worked example (Node 22.18 or newer runs it as it is)
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';

const FRESH_MS = 300_000;

/** Lower-case hex. The key is the text of the secret as you got it: not decoded, not trimmed. */
export function sign(secret: string, ...parts: (string | Uint8Array)[]): string {
  const hmac = createHmac('sha256', secret);
  for (const part of parts) hmac.update(part);
  return hmac.digest('hex');
}

/** In constant time. timingSafeEqual wants equal lengths, and the length of a signature is no secret. */
function matches(expected: string, given: string | null | undefined): boolean {
  const bytes = Buffer.from(given ?? '');
  return bytes.length === expected.length && timingSafeEqual(Buffer.from(expected), bytes);
}

export interface Message {
  readonly method: string;
  /** Of the URL as sent, without the query. */
  readonly path: string;
  /** As received or sent, byte for byte; before JSON.parse. Empty where there is none. */
  readonly body: Uint8Array;
}

export interface Call extends Message {
  /** X-API-REQUEST. */
  readonly requestId: string;
}

/** An answer of the staking API. */
export function isFromStakingApi(
  secret: string,
  { method, path, body }: Message,
  signature: string | null | undefined,
): boolean {
  return matches(sign(secret, method, path, body), signature);
}

/** A call to one of your endpoints. */
export function isOurCall(
  secret: string,
  { method, path, requestId, body }: Call,
  signature: string | null | undefined,
): boolean {
  return matches(sign(secret, method, path, requestId, body), signature);
}

/** X-API-REQUEST is a UUID of version 7: its first 48 bits are the time, in milliseconds. */
export function isFresh(requestId: string, nowMs: number): boolean {
  const isUuid7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;
  if (!isUuid7.test(requestId)) return false;
  const madeAtMs = Number.parseInt(requestId.replaceAll('-', '').slice(0, 12), 16);
  return Math.abs(nowMs - madeAtMs) <= FRESH_MS;
}

/** For X-API-SIGNATURE of your answer: method, path and id of the call, and exactly the body that you send. */
export function signAnswer(secret: string, { method, path, requestId, body }: Call): string {
  return sign(secret, method, path, requestId, body);
}

// ---- The rest checks the worked examples. ----

interface Vector extends Omit<Call, 'body' | 'requestId'> {
  readonly name: string;
  readonly direction: string;
  readonly secret: string;
  readonly xApiRequest?: string;
  readonly body: string;
  readonly signature: string;
}

function check({ direction, secret, signature, ...vector }: Vector): boolean {
  const call = {
    ...vector,
    requestId: vector.xApiRequest ?? '',
    body: Buffer.from(vector.body),
  };
  const changed = { ...call, body: Buffer.from(`${vector.body} `) };
  switch (direction) {
    case 'staking API to partner':
      return (
        isFromStakingApi(secret, call, signature) && !isFromStakingApi(secret, changed, signature)
      );
    case 'service to partner':
      return isOurCall(secret, call, signature) && !isOurCall(secret, changed, signature);
    case 'partner to service':
      return signAnswer(secret, call) === signature;
    default:
      return false;
  }
}

const file = process.argv[2] ?? new URL('../../wire/signature-vectors.json', import.meta.url);
const { vectors } = JSON.parse(readFileSync(file, 'utf8')) as { vectors: Vector[] };
const wrong = vectors.filter((vector) => !check(vector));
for (const { name } of wrong) console.log(`WRONG  ${name}`);
console.log(`${vectors.length - wrong.length} of ${vectors.length} vectors verified`);
const [id, madeAtMs] = ['01a1fdfa-467b-7abc-8def-0123456789ab', 1_795_262_400_123] as const;
const fresh = isFresh(id, madeAtMs + 299_000) && !isFresh(id, madeAtMs + 301_000);
if (!fresh) console.log('WRONG  freshness');
process.exitCode = vectors.length > 0 && wrong.length === 0 && fresh ? 0 : 1;
