/**
 * One HTTP exchange with a node: a JSON body out, a JSON body in, under one deadline that covers the whole of it.
 *
 * viem's client is used for the request, its body limit and basic credentials in the URL. Its errors hold the URL and the
 * request, hence they never leave this file; its own timeout ends with the headers, hence the signal.
 */
import { getHttpRpcClient, type HttpRpcClient } from 'viem/utils';
import { growsWithRange } from '../errors/classify-rpc-error.js';
import { redact } from '../errors/redact.js';
import { isRecord } from '../shape/hex.js';
import { retryAfterMs } from '../errors/retry-after.js';
import {
  MalformedAnswerError,
  OverloadedError,
  RangeTooLargeError,
  RateLimitedError,
  RpcRefusedError,
  RpcTimeoutError,
  TransportError,
  UnreachableError,
  type RpcError,
} from '../errors/rpc.errors.js';

export interface HttpExchangeOptions {
  readonly url: string;
  readonly endpoint: string;
  readonly secrets: readonly string[];
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
  readonly nowMs: () => number;
}

export interface WireCall {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

export interface HttpAnswer {
  readonly body: unknown;
  readonly bytes: number;
  readonly status: number;
  readonly retryAfterMs: number | undefined;
}

interface Progress {
  status: number;
  retryAfterMs: number | undefined;
  bytes: number;
}

const TIMEOUT_STATUS = new Set([408, 504, 522, 524, 598]);
const UNREACHABLE =
  /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|CERT|ERR_SSL|ERR_TLS/;
/** The connection went away under an answer, which is how some nodes refuse what is too large for them. */
const CUT = /terminated|ECONNRESET|EPIPE|UND_ERR_SOCKET|other side closed/;

export class HttpExchange {
  private readonly client: HttpRpcClient;

  constructor(private readonly options: HttpExchangeOptions) {
    this.client = getHttpRpcClient(options.url, {
      timeout: 0,
      maxResponseBodySize: options.maxResponseBytes,
    });
  }

  /**
   * @returns the parsed body; with a status other than 2xx only where the body is a JSON-RPC error
   * @throws RpcError of the class that the failure calls for, or the reason of `signal` where it was aborted
   */
  async send(calls: readonly WireCall[], signal: AbortSignal | undefined): Promise<HttpAnswer> {
    signal?.throwIfAborted();
    const progress: Progress = { status: 0, retryAfterMs: undefined, bytes: 0 };
    const deadline = new AbortController();
    const timer = setTimeout(() => {
      deadline.abort();
    }, this.options.timeoutMs);
    const signals = signal ? [signal, deadline.signal] : [deadline.signal];
    try {
      const body: unknown = await this.client.request({
        body: [...calls],
        fetchFn: (input, init) => counted(input, init, progress),
        fetchOptions: { signal: AbortSignal.any(signals), redirect: 'error' },
        onResponse: (response) => {
          progress.status = response.status;
          const header = response.headers.get('retry-after');
          progress.retryAfterMs = retryAfterMs(header, this.options.nowMs());
        },
      });
      if (progress.status === 429) throw this.rateLimited(progress);
      const { bytes, status, retryAfterMs: waitMs } = progress;
      return { body, bytes, status, retryAfterMs: waitMs };
    } catch (error) {
      const late = deadline.signal.aborted;
      // The rest of an answer that is too large or no use is not waited for.
      deadline.abort();
      signal?.throwIfAborted();
      if (error instanceof RateLimitedError) throw error;
      throw this.failure(error, progress, { calls, late });
    } finally {
      clearTimeout(timer);
    }
  }

  private failure(
    error: unknown,
    progress: Progress,
    context: { readonly calls: readonly WireCall[]; readonly late: boolean },
  ): RpcError {
    const { endpoint, timeoutMs, maxResponseBytes } = this.options;
    const { status } = progress;
    const grows = growsWithRange(context.calls[0]?.method ?? '');
    if (context.late) {
      return new RpcTimeoutError(`no whole answer within ${timeoutMs} ms`, { endpoint });
    }
    if (nameOf(error) === 'ResponseBodyTooLargeError' || status === 413) {
      const what =
        status === 413 ? 'HTTP 413' : `the answer is larger than ${maxResponseBytes} bytes`;
      return grows
        ? new RangeTooLargeError(what, { endpoint })
        : new TransportError(what, { endpoint, sizeMayExplain: true });
    }
    if (status === 429) return this.rateLimited(progress);
    if (TIMEOUT_STATUS.has(status)) return new RpcTimeoutError(`HTTP ${status}`, { endpoint });
    if (status === 503) {
      return new OverloadedError('HTTP 503', { endpoint, sizeMayExplain: true });
    }
    if (status >= 500) {
      return new TransportError(`HTTP ${status}`, { endpoint, sizeMayExplain: true });
    }
    if (status >= 300) {
      const sizeMayExplain = grows && status === 400;
      return new RpcRefusedError(`HTTP ${status}`, { endpoint, rpcCode: status, sizeMayExplain });
    }
    const reason = networkReason(error, this.options.secrets);
    if (status >= 200 && !CUT.test(reason)) {
      return new MalformedAnswerError('the answer is not JSON', { endpoint, sizeMayExplain: true });
    }
    if (UNREACHABLE.test(reason)) return new UnreachableError(reason, { endpoint });
    return new TransportError(reason, { endpoint, sizeMayExplain: CUT.test(reason) });
  }

  private rateLimited(progress: Progress): RateLimitedError {
    const { endpoint } = this.options;
    return new RateLimitedError('HTTP 429', { endpoint, retryAfterMs: progress.retryAfterMs });
  }
}

/** fetch, with the bytes of the decoded body: as announced, else counted as they pass, which costs a quarter more time. */
async function counted(
  input: string | URL | Request,
  init: RequestInit | undefined,
  progress: Progress,
): Promise<Response> {
  const response = await fetch(input, init);
  const announced = Number(response.headers.get('content-length') ?? NaN);
  if (!response.headers.has('content-encoding') && announced >= 0) {
    progress.bytes = announced;
    return response;
  }
  if (!response.body) return response;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      progress.bytes += chunk.byteLength;
      controller.enqueue(chunk);
    },
  });
  return new Response(response.body.pipeThrough(counter), {
    status: response.status,
    statusText: response.statusText,
    headers: response.headers,
  });
}

function nameOf(error: unknown): unknown {
  return isRecord(error) ? error['name'] : undefined;
}

/** The codes and messages of the chain of causes below viem's own error, which quotes the request. */
function networkReason(error: unknown, secrets: readonly string[]): string {
  const reasons: string[] = [];
  let inner: unknown = error;
  for (let depth = 0; depth < 5 && isRecord(inner); depth++) {
    const { name, code, message, cause } = inner;
    if (name !== 'HttpRequestError') {
      reasons.push(
        [code, message].filter((part) => typeof part === 'string' && part !== '').join(' '),
      );
    }
    inner = cause;
  }
  return redact(reasons.join(': ') || 'no connection', secrets);
}
