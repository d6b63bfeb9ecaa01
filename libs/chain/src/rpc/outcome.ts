import { LowmarkError } from '#libs/domain';
import { RpcError } from '../errors/rpc.errors.js';
import { computeUnitsOf } from './compute-units.js';
import { type RpcCall, type RpcResult } from './rpc-call.js';
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
