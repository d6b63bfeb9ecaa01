/** The load of requests, and what their outcomes say about the limits of an endpoint. */
import {
  isTransient,
  RateLimitedError,
  RpcError,
  TransportError,
  UnreachableError,
} from '../errors/rpc.errors.js';
import { computeUnitsOf, type RpcCall, type RpcResult } from './rpc-call.js';

export interface Outcome {
  /** Compute units of the calls that were answered. */
  readonly answeredUnits: number;
  /** The share of the calls that were refused by a rate limit, 0 to 1. */
  readonly refused: number;
  /** Whether the endpoint was overloaded: a 503, a timeout, a reset. */
  readonly overloaded: boolean;
  /** The wait that the rate limit asked for. */
  readonly retryAfterMs?: number | undefined;
}

export interface Load {
  readonly calls: number;
  readonly computeUnits: number;
}

export function loadOf(calls: readonly RpcCall[]): Load {
  const computeUnits = calls.reduce((sum, { method }) => sum + computeUnitsOf(method), 0);
  return { calls: calls.length, computeUnits };
}

export function outcomeOfAnswer(calls: readonly RpcCall[], results: readonly RpcResult[]): Outcome {
  const refusals = results.filter((result) => !result.ok && isRefusal(result.error));
  const answered = calls.filter((_, index) => {
    const result = results[index];
    return result?.ok === true || (result !== undefined && !isTransient(result.error));
  });
  return {
    answeredUnits: loadOf(answered).computeUnits,
    refused: refusals.length / calls.length,
    overloaded: results.some((result) => !result.ok && result.error instanceof TransportError),
    retryAfterMs: Math.max(0, ...refusals.map((result) => (result.ok ? 0 : waitOf(result.error)))),
  };
}

/** @returns undefined where the failure says nothing about limits */
export function outcomeOfFailure(error: unknown): Outcome | undefined {
  if (!(error instanceof RpcError) || error instanceof UnreachableError) return undefined;
  const overloaded = error instanceof TransportError;
  const refused = isRefusal(error) ? 1 : 0;
  return { answeredUnits: 0, refused, overloaded, retryAfterMs: waitOf(error) };
}

function isRefusal(error: unknown): boolean {
  return error instanceof RateLimitedError;
}

function waitOf(error: unknown): number {
  return error instanceof RateLimitedError ? (error.retryAfterMs ?? 0) : 0;
}

interface OutcomeSums {
  readonly requests: number;
  /** Sum of the refused shares of all requests. */
  readonly refused: number;
  /** Number of requests with a refused call. */
  readonly refusals: number;
  readonly overloads: number;
  readonly answeredUnits: number;
  /** The time that the sums cover. */
  readonly spanMs: number;
}

type Slot = { -readonly [key in Exclude<keyof OutcomeSums, 'spanMs'>]: number } & { atMs: number };

const SLOT_MS = 250;
/** Sums look back over SHORTEST_MS at least, and further until they have FEW_REQUESTS requests, up to LONGEST_MS. */
const SHORTEST_MS = 2_000;
const FEW_REQUESTS = 40;
const LONGEST_MS = 8_000;

/** The outcomes of the requests of the last seconds: enough of them to tell a limit from chance. */
export class RecentOutcomes {
  private slots: Slot[] = [];
  /** Time of the last mark. Outcomes of requests that started earlier belong to earlier limits. */
  sinceMarkMs: number;

  constructor(private sinceMs: number) {
    this.sinceMarkMs = sinceMs;
  }

  /** Forgets all outcomes, after a time without requests. */
  clear(nowMs: number): void {
    this.slots = [];
    this.sinceMs = nowMs;
    this.sinceMarkMs = nowMs;
  }

  /**
   * Makes `sums` count later outcomes only, because the limits have changed. The goodput is still measured across the
   * mark.
   */
  mark(nowMs: number): void {
    this.sinceMarkMs = nowMs;
  }

  add(outcome: Outcome, nowMs: number): void {
    const slot = this.slotAt(nowMs);
    slot.requests++;
    slot.refused += outcome.refused;
    if (outcome.refused > 0) slot.refusals++;
    if (outcome.overloaded) slot.overloads++;
    slot.answeredUnits += outcome.answeredUnits;
  }

  sums(nowMs: number): OutcomeSums {
    return this.sumsSince(this.sinceMarkMs, nowMs);
  }

  allSums(nowMs: number): OutcomeSums {
    return this.sumsSince(this.sinceMs, nowMs);
  }

  /** The compute units a second that were answered, averaged over a second at least, and the time that was measured. */
  goodput(nowMs: number): { readonly perSecond: number; readonly spanMs: number } {
    const { answeredUnits, spanMs } = this.allSums(nowMs);
    return { perSecond: (answeredUnits * 1000) / Math.max(1000, spanMs), spanMs };
  }

  private sumsSince(sinceMs: number, nowMs: number): OutcomeSums {
    const sums = { requests: 0, refused: 0, refusals: 0, overloads: 0, answeredUnits: 0 };
    let fromMs = nowMs;
    for (const slot of [...this.slots].reverse()) {
      const enough = fromMs <= nowMs - SHORTEST_MS && sums.requests >= FEW_REQUESTS;
      if (enough || slot.atMs < sinceMs || slot.atMs < nowMs - LONGEST_MS) break;
      sums.requests += slot.requests;
      sums.refused += slot.refused;
      sums.refusals += slot.refusals;
      sums.overloads += slot.overloads;
      sums.answeredUnits += slot.answeredUnits;
      fromMs = slot.atMs;
    }
    return { ...sums, spanMs: nowMs - fromMs };
  }

  private slotAt(nowMs: number): Slot {
    const last = this.slots.at(-1);
    if (last && last.atMs >= this.sinceMarkMs && nowMs < last.atMs + SLOT_MS) return last;
    this.slots = this.slots.filter((slot) => slot.atMs >= nowMs - LONGEST_MS);
    const none = { requests: 0, refused: 0, refusals: 0, overloads: 0, answeredUnits: 0 };
    const slot = { atMs: nowMs, ...none };
    this.slots.push(slot);
    return slot;
  }
}
