import { createHash, timingSafeEqual } from 'node:crypto';
import { type CallbackCall, headerOf, Refusal } from './call.js';
import { type Clock } from '../clock.js';
import { type Credential } from '../credential.js';
import { parseRequestId, requestIdMs } from '../request-id.js';
import { verifyJson } from '../signing/signing.js';

export interface Gate {
  readonly credentials: readonly Credential[];
  readonly replayStore: ReplayStore;
  readonly clock: Clock;
  readonly freshSeconds: number;
}

/**
 * Lets a call through that comes from the service, is unchanged, is new and comes for the first time. The id is remembered
 * last, so that only the service can fill the store; a call that fails later needs a new one, as each attempt does.
 * @returns the id
 * @throws Refusal ERR-AUTH-FAILED, whatever the store throws
 */
export async function authenticate(call: CallbackCall, gate: Gate): Promise<string> {
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
  if (!(await gate.replayStore.firstUse(requestId, nowMs))) {
    throw unauthenticated('X-API-REQUEST was used before.');
  }
  return requestId;
}

/** Hashes have one length, and all are compared: it takes the same time whatever is sent. */
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

/** Remembers which calls were here. With several replicas it must be shared: a table with the id as its key, or Redis `SET … NX`. */
export interface ReplayStore {
  /**
   * Remembers the id for twice the freshness window (600 s), in one step that only the first of equal ids wins.
   * @param requestId a UUID in lower case
   * @returns false where it is remembered already
   */
  firstUse(requestId: string, nowMs: number): Promise<boolean>;
}

/** For one process. Only authentic calls get here, so its size is what the service sends in ten minutes. */
export class MemoryReplayStore implements ReplayStore {
  private readonly seenAtMs = new Map<string, number>();

  constructor(private readonly rememberSeconds = 600) {}

  firstUse(requestId: string, nowMs: number): Promise<boolean> {
    // In the order they came, so the oldest are in front.
    for (const [id, seenAtMs] of this.seenAtMs) {
      if (seenAtMs >= nowMs - this.rememberSeconds * 1000) break;
      this.seenAtMs.delete(id);
    }
    if (this.seenAtMs.has(requestId)) return Promise.resolve(false);
    this.seenAtMs.set(requestId, nowMs);
    return Promise.resolve(true);
  }
}
