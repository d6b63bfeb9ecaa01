/** One request and its answer on one connection. */
import { type Dispatcher, errors } from 'undici';
import { type NoAnswerCause, type PhaseUnderWay } from '../call-result.js';
import { type Connection } from './connections.js';
import { CallStopped } from './call-fault.js';
import { type SignedRequest } from '../partner-endpoint.js';
import { describeError, ExchangeFault } from './call-fault.js';

export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** What has come so far; whole when the exchange has resolved. */
export interface Arrived {
  phase: PhaseUnderWay | 'done';
  status?: number;
  /** Names in lower case; a header that came more than once is a list. */
  headers: AnswerHeaders;
  readonly chunks: Buffer[];
  bytes: number;
  /** On the `performance` clock. */
  headAt?: number;
}

export function nothingArrived(): Arrived {
  return { phase: 'sending', headers: {}, chunks: [], bytes: 0 };
}

/**
 * @param limits `signal` is a Deadline's
 * @param arrived is filled as the answer comes
 * @returns the status; the connection may then serve another call, unless the partner closes it
 * @throws ExchangeFault where no whole answer came; the connection is gone then
 */
export async function exchange(
  connection: Connection,
  request: SignedRequest,
  limits: { readonly maxBodyBytes: number; readonly signal: AbortSignal },
  arrived: Arrived,
): Promise<number> {
  try {
    return await dispatched(connection, request, limits, arrived);
  } catch (error) {
    connection.destroy();
    throw exchangeFault(error, arrived);
  }
}

function dispatched(
  connection: Connection,
  request: SignedRequest,
  { maxBodyBytes, signal }: { readonly maxBodyBytes: number; readonly signal: AbortSignal },
  arrived: Arrived,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      fail(signal.reason);
    };
    const fail = (error: unknown): void => {
      signal.removeEventListener('abort', onAbort);
      reject(error instanceof Error ? error : new Error(String(error)));
    };
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) {
      onAbort();
      return;
    }
    const tooLarge = new ExchangeFault('too-large', `the body exceeds ${maxBodyBytes} bytes`);
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: () => undefined,
      onResponseStart: (controller, status, headers) => {
        // 102 and 103 announce an answer; undici takes 100 and 101, which were not asked for, as a broken one.
        if (status < 200) return;
        Object.assign(arrived, { phase: 'head', status, headers, headAt: performance.now() });
        const announced = headers['content-length'];
        if (typeof announced === 'string' && Number(announced) > maxBodyBytes) {
          controller.abort(tooLarge);
        }
      },
      onResponseData: (controller, chunk) => {
        arrived.phase = 'body';
        const room = maxBodyBytes - arrived.bytes;
        arrived.bytes += chunk.length;
        arrived.chunks.push(Buffer.from(chunk.subarray(0, Math.max(0, room))));
        if (chunk.length > room) controller.abort(tooLarge);
      },
      onResponseEnd: () => {
        signal.removeEventListener('abort', onAbort);
        arrived.phase = 'done';
        resolve(arrived.status ?? 0);
      },
      onResponseError: (_controller, error) => {
        fail(error);
      },
    };
    const { method } = request.identity;
    const { target: path, headers, body } = request;
    const options = { method, path, headers: { ...headers } };
    connection.dispatch(body === '' ? options : { ...options, body }, handler);
  });
}

function exchangeFault(error: unknown, { phase }: Arrived): ExchangeFault {
  if (error instanceof ExchangeFault) return error;
  const { text } = describeError(error);
  return new ExchangeFault(causeOf(error, { text, hasHead: phase !== 'sending' }), text);
}

function causeOf(
  error: unknown,
  { text, hasHead }: { readonly text: string; readonly hasHead: boolean },
): NoAnswerCause {
  if (error instanceof CallStopped) {
    if (error.why === 'aborted') return 'aborted';
    return hasHead ? 'too-slow' : 'timeout';
  }
  if (error instanceof errors.HeadersOverflowError) return 'too-large';
  // A status of the 1xx that was not asked for.
  if (/bad (response|upgrade)$/.test(text)) return 'not-http';
  if (error instanceof errors.SocketError) return hasHead ? 'half-answer' : 'reset';
  if (error instanceof errors.ResponseContentLengthMismatchError || /EOF/.test(text)) {
    return hasHead ? 'half-answer' : 'not-http';
  }
  return error instanceof errors.HTTPParserError ? 'not-http' : 'reset';
}
