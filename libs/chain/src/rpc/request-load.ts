import {
  isTransient,
  RateLimitedError,
  RpcError,
  TransportError,
  UnreachableError,
} from '../errors/rpc.errors.js';
import { computeUnitsOf, type RpcCall, type RpcResult } from './rpc-call.js';
import { type Load, type ThrottledOutcome } from './throttle.js';

/** What a request weighs. */
export function loadOf(calls: readonly RpcCall[]): Load {
  const computeUnits = calls.reduce((sum, { method }) => sum + computeUnitsOf(method), 0);
  return { calls: calls.length, computeUnits };
}

/** What an answer says of the endpoint's limits. */
export function outcomeOfAnswer(
  calls: readonly RpcCall[],
  results: readonly RpcResult[],
): ThrottledOutcome {
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

/** @returns undefined where it says nothing of them */
export function outcomeOfFailure(error: unknown): ThrottledOutcome | undefined {
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
