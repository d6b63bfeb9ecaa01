import { type SpanStart } from '#libs/platform';
import { type RpcCall } from './rpc-call.js';

/** What the pool tells of its requests; the application turns it into metrics and logs. */
export interface RpcObserver {
  /** One HTTP request ended. */
  request(event: RpcRequestEvent): void;
  /** Something an operator should read; said once for each fault, not for each request. */
  warning(event: RpcWarning): void;
  /** A question sleeps because nothing answers it; said at each sleep. */
  waiting?(event: RpcWaiting): void;
}

export interface RpcRequestEvent {
  readonly endpoint: string;
  /** The method of the first call of the batch. */
  readonly method: string;
  /** `ok`, or the error's code in lower case without `RPC_`: timeout, rate_limited, range_too_large, malformed_answer, … */
  readonly outcome: string;
  /** What went wrong, without secrets; absent where nothing did. */
  readonly reason?: string;
  /** Absent where no answer came. */
  readonly httpStatus?: number;
  readonly seconds: number;
  readonly bytes: number;
  /** How many calls the batch had. */
  readonly calls: number;
  /** The same calls by method and outcome. */
  readonly callOutcomes: readonly CallOutcome[];
}

export interface CallOutcome {
  readonly method: string;
  readonly outcome: string;
  readonly calls: number;
  /** Of the calls that the endpoint answered; one that it refused for its rate, or never answered, costs nothing. */
  readonly computeUnits: number;
}

export interface RpcWarning {
  readonly endpoint: string;
  readonly code: string;
  readonly message: string;
}

export interface RpcWaiting {
  readonly endpoint: string;
  /** What went wrong there. */
  readonly message: string;
  readonly waitMs: number;
  /** Since the question was first not answered. */
  readonly forMs: number;
}

export const silentObserver: RpcObserver = {
  request: () => undefined,
  warning: () => undefined,
};

/**
 * The span of one request to an endpoint. Nothing of its URL but the end of the host, since providers put keys into all the rest, and nothing of
 * what is asked but the method.
 * @param endpoint its name: the end of the host, and the place in the list
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
