/**
 * Signatures in TypeScript, Node's own modules only.
 *
 * node verify.ts [signature-vectors.json]    checks every worked example (Node 22.18 or newer runs it as it is)
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';

const FRESH_MS = 300_000;
const DAY_MS = 86_400_000;

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

export interface Asked {
  /** In lower case. */
  readonly wallet: string;
  readonly lastDays: number;
  /** Such as 2026-11-20. Absent: the day before the request. */
  readonly endDay?: string;
  /** In lower case. */
  readonly contract?: string;
}

export interface Snapshots {
  readonly walletAddress: string;
  readonly requestedAt: string;
  readonly contract?: string;
  readonly stakingSnapshots: readonly { readonly from: string }[];
}

/** The signature of an answer of the staking API does not expire: one that is older may be a replay. */
export function isTimely(
  { requestedAt }: { readonly requestedAt: string },
  nowMs: number,
): boolean {
  return Math.abs(nowMs - Date.parse(requestedAt)) <= FRESH_MS;
}

/** Whether snapshots are those that you asked for, after their signature was verified: it does not cover the query. */
export function answersQuestion(answer: Snapshots, asked: Asked, nowMs: number): boolean {
  const requestDay = Math.floor(Date.parse(answer.requestedAt) / DAY_MS);
  const lastDay = asked.endDay === undefined ? requestDay - 1 : Date.parse(asked.endDay) / DAY_MS;
  const firstDay = lastDay - asked.lastDays + 1;
  return (
    isTimely(answer, nowMs) &&
    answer.walletAddress === asked.wallet &&
    answer.contract === asked.contract &&
    answer.stakingSnapshots.length === asked.lastDays &&
    answer.stakingSnapshots.every(
      ({ from }, place) => Date.parse(from) === (firstDay + place) * DAY_MS,
    )
  );
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

/** Takes the snapshots of an example for the answer to its own question, and to no other. */
function tellsQuestionsApart(body: string): boolean {
  const answer = JSON.parse(body) as Partial<Snapshots>;
  const { walletAddress: wallet = '', requestedAt = '', stakingSnapshots } = answer;
  if (stakingSnapshots === undefined) return true;
  const [nowMs, lastDays] = [Date.parse(requestedAt), stakingSnapshots.length];
  const isAnswer = (other: Partial<Asked>, laterMs = 0): boolean =>
    answersQuestion(answer as Snapshots, { wallet, lastDays, ...other }, nowMs + laterMs);
  const others = [
    { wallet: `0x${'0'.repeat(40)}` },
    { lastDays: lastDays + 1 },
    { endDay: '2026-01-01' },
    { contract: `eip155:1:0x${'0'.repeat(40)}` },
  ];
  const isOther = others.some((other) => isAnswer(other));
  return isAnswer({}) && !isOther && !isAnswer({}, 301_000) && !isAnswer({}, -301_000);
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
        isFromStakingApi(secret, call, signature) &&
        !isFromStakingApi(secret, changed, signature) &&
        tellsQuestionsApart(vector.body)
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
