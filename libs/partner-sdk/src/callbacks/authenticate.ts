import { createHash, timingSafeEqual } from 'node:crypto';
import { type CallbackCall, headerOf, Refusal } from './call.js';
import { type Clock, systemClock } from '../clock.js';
import { type Credential } from '../credential.js';
import { parseRequestId, requestIdMs } from '../request-id.js';
import { verifyJson } from '../signing/signing.js';

export interface AuthContext {
  readonly credentials: readonly Credential[];
  readonly replayStore: ReplayStore;
  readonly clock: Clock;
  readonly freshSeconds: number;
}

/**
 * Admits a call only where the service sent it unchanged, recently, and for the first time. The id is remembered last,
 * so that only the service can fill the store. A call that fails after that needs a new id, as every attempt does.
 * @returns the id
 * @throws Refusal ERR-AUTH-FAILED, and any error of the store
 */
export async function authenticate(call: CallbackCall, gate: AuthContext): Promise<string> {
  const { method, url, body } = call;
  const credential = credentialOf(call, gate.credentials);
  if (credential === undefined) throw unauthenticated('X-API-KEY is missing or wrong.');
  const sentId = headerOf(call, 'x-api-request');
  const signature = headerOf(call, 'x-api-signature');
  const message = { method, url, requestId: sentId, body };
  if (!verifyJson(credential.sharedSecret, message, signature)) {
    throw unauthenticated('X-API-SIGNATURE is missing or does not match.');
  }
  const requestId = parseRequestId(sentId);
  if (requestId === undefined) {
    throw unauthenticated('X-API-REQUEST must be a UUID of version 7.');
  }
  const nowMs = gate.clock.nowMs();
  if (Math.abs(nowMs - requestIdMs(requestId)) > gate.freshSeconds * 1000) {
    throw unauthenticated(`X-API-REQUEST is more than ${gate.freshSeconds} s from the clock here.`);
  }
  // A read has no effect, so it is answered even by a process that its call has started.
  const { sinceMs = -Infinity } = gate.replayStore;
  if (method !== 'GET' && requestIdMs(requestId) < sinceMs) {
    throw unauthenticated('X-API-REQUEST was made before this process began to remember ids.');
  }
  if (!(await gate.replayStore.firstUse(requestId, nowMs))) {
    throw unauthenticated('X-API-REQUEST was used before.');
  }
  return requestId;
}

/** Takes constant time: hashes have equal lengths, and all credentials are compared. */
export function credentialOf(
  call: CallbackCall,
  credentials: readonly Credential[],
): Credential | undefined {
  const key = headerOf(call, 'x-api-key');
  if (key === undefined) return undefined;
  const hash = sha256(key);
  return credentials.filter(({ apiKey }) => timingSafeEqual(sha256(apiKey), hash))[0];
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function unauthenticated(message: string): Refusal {
  return new Refusal('ERR-AUTH-FAILED', message);
}

/**
 * Remembers the ids of received calls. Several replicas must share one store: a table whose key is the id, or Redis
 * `SET … NX`.
 */
export interface ReplayStore {
  /**
   * Remembers the id for twice the freshness window (600 s), in one atomic step, so that of several equal ids only the
   * first succeeds.
   * @param requestId a UUID in lower case
   * @returns false where the id is already remembered
   */
  firstUse(requestId: string, nowMs: number): Promise<boolean>;

  /**
   * Unix time in milliseconds since which the store remembers ids; absent in a store that outlives the process. A call
   * made before is refused, unless it is a read: it may be a copy of a call that an earlier process has refused.
   */
  readonly sinceMs?: number;
}

/** A store for a single process. Only authentic calls reach the store, so it holds the calls of ten minutes. */
export class MemoryReplayStore implements ReplayStore {
  readonly sinceMs: number;
  private readonly seenAtMs = new Map<string, number>();

  constructor(
    private readonly rememberSeconds = 600,
    clock: Clock = systemClock,
  ) {
    this.sinceMs = clock.nowMs();
  }

  firstUse(requestId: string, nowMs: number): Promise<boolean> {
    // Ids are in the order of arrival, so the oldest come first.
    for (const [id, seenAtMs] of this.seenAtMs) {
      if (seenAtMs >= nowMs - this.rememberSeconds * 1000) break;
      this.seenAtMs.delete(id);
    }
    if (this.seenAtMs.has(requestId)) return Promise.resolve(false);
    this.seenAtMs.set(requestId, nowMs);
    return Promise.resolve(true);
  }
}
