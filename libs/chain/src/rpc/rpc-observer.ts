import { LowmarkError } from '#libs/domain';
import { type SpanStart } from '#libs/platform';
import { RpcError } from './rpc.errors.js';
import { computeUnitsOf, type RpcCall, type RpcResult } from './rpc-call.js';

/** Receives the events of the pool, which the application turns into metrics and logs. */
export interface RpcObserver {
  request(event: RpcRequestEvent): void;
  /** A message for the operator, once for each fault and not for each request. */
  warning(event: RpcWarning): void;
  /** A question sleeps because no endpoint answers it; called at each sleep. */
  waiting?(event: RpcWaiting): void;
}

interface Failure {
  /** Why the request failed, without secrets; absent if it succeeded. */
  readonly reason?: string;
  /** Absent if no answer came. */
  readonly httpStatus?: number;
}

export interface RpcRequestEvent extends Failure {
  readonly endpoint: string;
  readonly method: string;
  /** `ok`, or the error's code in lower case without `RPC_`, such as timeout, rate_limited or range_too_large. */
  readonly outcome: string;
  readonly seconds: number;
  readonly bytes: number;
  readonly calls: number;
  readonly callOutcomes: readonly CallOutcome[];
}

export interface CallOutcome {
  readonly method: string;
  readonly outcome: string;
  readonly calls: number;
  /** Compute units of answered calls. A call that was refused by a rate limit, or never answered, costs nothing. */
  readonly computeUnits: number;
}

export interface RpcWarning {
  readonly endpoint: string;
  readonly code: string;
  readonly message: string;
}

export interface RpcWaiting {
  readonly endpoint: string;
  readonly message: string;
  readonly waitMs: number;
  /** Time since the first failure of the question. */
  readonly forMs: number;
}

export const silentObserver: RpcObserver = {
  request: () => undefined,
  warning: () => undefined,
};

/**
 * The span of one request to an endpoint. Of the URL it has only the end of the host, because providers put keys into
 * all other parts, and of the calls only the method.
 * @param endpoint name of the endpoint: the end of the host, and the place in the list
 */
export function rpcSpan(endpoint: string, calls: readonly RpcCall[]): SpanStart {
  const method = calls[0]?.method ?? 'none';
  return {
    name: method,
    kind: 'client',
    attributes: {
      'rpc.system.name': 'jsonrpc',
      'rpc.method': method,
      'server.address': endpoint.replace(/(?::\d+)?#\d+$/, ''),
      'lowmark.endpoint': endpoint,
      'lowmark.calls': calls.length,
    },
  };
}

/** Outcomes that no provider bills. */
const NOT_ANSWERED = new Set([
  'aborted',
  'malformed_answer',
  'rate_limited',
  'timeout',
  'transport',
]);

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

/** The error of the first call that failed; undefined if none did. */
export function failureOf(results: readonly RpcResult[]): LowmarkError | undefined {
  return results.find((result) => !result.ok)?.error;
}

/**
 * The details of a failure besides its outcome.
 * @param status of the answer; if it is undefined, the error may have one
 */
export function reasonOf(failure: unknown, status: number | undefined): Failure {
  if (!(failure instanceof LowmarkError)) return {};
  const httpStatus = status ?? (failure instanceof RpcError ? failure.httpStatus : undefined);
  return { reason: failure.message, ...(httpStatus !== undefined && { httpStatus }) };
}

function outcomeOfResult(result: RpcResult | undefined): string {
  return !result || result.ok ? 'ok' : outcomeOf(result.error);
}
