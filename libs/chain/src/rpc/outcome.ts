import { LowmarkError } from '#libs/domain';
import { RpcError } from '../errors/rpc.errors.js';
import { computeUnitsOf, type RpcCall, type RpcResult } from './rpc-call.js';
import { type CallOutcome, type RpcRequestEvent } from './rpc-observer.js';

/** Outcomes for which no provider bills. */
const NOT_ANSWERED = new Set([
  'aborted',
  'malformed_answer',
  'rate_limited',
  'timeout',
  'transport',
]);

/** The label under which an error is counted. */
export function outcomeOf(error: unknown): string {
  if (error instanceof LowmarkError) return error.code.replace(/^RPC_/, '').toLowerCase();
  return 'aborted';
}

/** @param answer the results in the order of the calls, or the outcome of the whole request */
export function callOutcomes(
  calls: readonly RpcCall[],
  answer: readonly RpcResult[] | string,
): CallOutcome[] {
  const groups = new Map<string, { method: string; outcome: string; calls: number }>();
  for (const [index, { method }] of calls.entries()) {
    const result = typeof answer === 'string' ? undefined : answer[index];
    const outcome = typeof answer === 'string' ? answer : outcomeOfResult(result);
    const key = `${method} ${outcome}`;
    const group = groups.get(key) ?? { method, outcome, calls: 0 };
    group.calls++;
    groups.set(key, group);
  }
  return [...groups.values()].map((group) => ({
    ...group,
    computeUnits: NOT_ANSWERED.has(group.outcome) ? 0 : group.calls * computeUnitsOf(group.method),
  }));
}

/** `ok`, or the outcome of the first call that failed. */
export function outcomeOfResults(results: readonly RpcResult[]): string {
  return outcomeOfResult(results.find((result) => !result.ok));
}

/** Why a request failed, or the first call in it that did; undefined where all is well. */
export function failureOf(results: readonly RpcResult[]): LowmarkError | undefined {
  return results.find((result) => !result.ok)?.error;
}

/**
 * What is told of a failure beside its outcome.
 * @param status of the answer that came; where none was kept, the error may know it
 */
export function reasonOf(
  failure: unknown,
  status: number | undefined,
): Pick<RpcRequestEvent, 'reason' | 'httpStatus'> {
  if (!(failure instanceof LowmarkError)) return {};
  const httpStatus = status ?? (failure instanceof RpcError ? failure.httpStatus : undefined);
  return { reason: failure.message, ...(httpStatus !== undefined && { httpStatus }) };
}

function outcomeOfResult(result: RpcResult | undefined): string {
  return !result || result.ok ? 'ok' : outcomeOf(result.error);
}

/** How the requests of the last seconds ended: enough of them to tell a limit from bad luck. */
export interface Outcome {
  /** Compute units of the calls that were answered. */
  readonly answeredUnits: number;
  /** 0 to 1: the share of the calls that were refused for their rate. */
  readonly refused: number;
  /** 503, a time-out, a reset. */
  readonly overloaded: boolean;
}

interface OutcomeSums {
  readonly requests: number;
  /** The refused shares of all requests, added up. */
  readonly refused: number;
  /** Requests with a refused call. */
  readonly refusals: number;
  readonly overloads: number;
  readonly answeredUnits: number;
  /** The time that the sums cover. */
  readonly spanMs: number;
}

type Slot = { -readonly [key in Exclude<keyof OutcomeSums, 'spanMs'>]: number } & { atMs: number };

const SLOT_MS = 250;
/** Looked back at least so far, and further while there were fewer requests than this, up to the longest. */
const SHORTEST_MS = 2_000;
const FEW_REQUESTS = 40;
const LONGEST_MS = 8_000;

export class RecentOutcomes {
  private slots: Slot[] = [];
  private markedMs: number;

  constructor(private sinceMs: number) {
    this.markedMs = sinceMs;
  }

  /** Forgets everything: there was a time without requests. */
  clear(nowMs: number): void {
    this.slots = [];
    this.sinceMs = nowMs;
    this.markedMs = nowMs;
  }

  /** What comes now is judged by itself: the limits have changed. The goodput is still measured over the mark. */
  mark(nowMs: number): void {
    this.markedMs = nowMs;
  }

  /** Outcomes of requests that started earlier belong to earlier limits. */
  get sinceMarkMs(): number {
    return this.markedMs;
  }

  add(outcome: Outcome, nowMs: number): void {
    const slot = this.slotAt(nowMs);
    slot.requests++;
    slot.refused += outcome.refused;
    if (outcome.refused > 0) slot.refusals++;
    if (outcome.overloaded) slot.overloads++;
    slot.answeredUnits += outcome.answeredUnits;
  }

  /** Since the mark. */
  sums(nowMs: number): OutcomeSums {
    return this.sumsSince(this.markedMs, nowMs);
  }

  /** Over the mark. */
  allSums(nowMs: number): OutcomeSums {
    return this.sumsSince(this.sinceMs, nowMs);
  }

  /** Compute units a second that were answered, over a second at least, and the time in which they were. */
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
    if (last && last.atMs >= this.markedMs && nowMs < last.atMs + SLOT_MS) return last;
    this.slots = this.slots.filter((slot) => slot.atMs >= nowMs - LONGEST_MS);
    const none = { requests: 0, refused: 0, refusals: 0, overloads: 0, answeredUnits: 0 };
    const slot = { atMs: nowMs, ...none };
    this.slots.push(slot);
    return slot;
  }
}
