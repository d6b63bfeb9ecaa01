/**
 * One connection to a partner, and one request with its answer on it. undici gets an open socket instead of a function
 * that opens one, and is refused a second socket. So it can neither send a request again nor connect to an address that
 * was not checked.
 */
import { type Socket } from 'node:net';
import { Client, type Dispatcher, errors } from 'undici';
import { type NoAnswerCode } from '#libs/partner-sdk/answers';
import { type PhaseUnderWay } from '../call-result.js';
import { CallStopped, describeError, ExchangeFault } from './call-fault.js';

const MAX_HEADER_BYTES = 16_384;
/**
 * Milliseconds that a connection is kept where the partner announces no time: its server may close an idle connection
 * after two seconds (gunicorn).
 */
const UNANNOUNCED_IDLE_MS = 1000;
const LONGEST_IDLE_MS = 30_000;
/**
 * Milliseconds before the announced end at which we stop using a connection: the partner's close must not cross our
 * request.
 */
const IDLE_MARGIN_MS = 1000;

export class Connection {
  private readonly client: Client;
  private isGiven = false;
  private writtenBefore: number;

  constructor(
    private readonly socket: Socket,
    origin: string,
    /** The address that was checked. The connection leads to no other address while it exists. */
    readonly remoteAddress: string | undefined,
  ) {
    this.writtenBefore = socket.bytesWritten;
    this.client = new Client(origin, {
      connect: (_options, callback) => {
        const isFirst = !this.isGiven;
        this.isGiven = true;
        // undici expects the callback to be called later.
        queueMicrotask(() => {
          if (isFirst) callback(null, socket);
          else callback(new Error('the connection was lost'), null);
        });
      },
      allowH2: false,
      maxHeaderSize: MAX_HEADER_BYTES,
      // The signal is the only deadline of a call.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: UNANNOUNCED_IDLE_MS,
      keepAliveMaxTimeout: LONGEST_IDLE_MS,
      keepAliveTimeoutThreshold: IDLE_MARGIN_MS,
    });
  }

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.writtenBefore = this.socket.bytesWritten;
    this.client.dispatch(options, handler);
  }

  /** @see exchange */
  exchange(request: WireRequest, limits: ExchangeLimits, arrived: Arrived): Promise<number> {
    return exchange(this, request, limits, arrived);
  }

  /** Where true, proof that no byte of the newest request was given to the connection. */
  get hasNoBytesSent(): boolean {
    return this.socket.bytesWritten === this.writtenBefore;
  }

  get isOpen(): boolean {
    const { socket, client } = this;
    return !socket.destroyed && socket.readable && socket.writable && !client.destroyed;
  }

  onClose(listener: () => void): void {
    this.socket.once('close', listener);
  }

  /** Not awaited: no call waits for anything on this connection any more. */
  destroy(): void {
    void this.client.destroy();
    this.socket.destroy();
  }
}

/**
 * Milliseconds that a connection may be idle before it is used again, by the `Keep-Alive` header of its last answer
 * (RFC 9112, appendix C.2.2).
 */
export function idleMs(announced: string | readonly string[] | undefined): number {
  const seconds =
    typeof announced === 'string' ? /\btimeout=(\d+)/i.exec(announced)?.[1] : undefined;
  return seconds === undefined
    ? UNANNOUNCED_IDLE_MS
    : Math.min(LONGEST_IDLE_MS, Number(seconds) * 1000 - IDLE_MARGIN_MS);
}

export interface WireRequest {
  readonly identity: { readonly method: string };
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Empty where the request has no body. */
  readonly body: string;
}

export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** The answer as far as it has arrived; whole once the exchange has resolved. */
export interface Arrived {
  phase: PhaseUnderWay | 'done';
  status?: number;
  /** Names in lower case; a header that came more than once is a list. */
  headers: AnswerHeaders;
  readonly chunks: Buffer[];
  bytes: number;
  /** In milliseconds of the `performance` clock. */
  headAt?: number;
}

export function nothingArrived(): Arrived {
  return { phase: 'sending', headers: {}, chunks: [], bytes: 0 };
}

export interface ExchangeLimits {
  readonly maxBodyBytes: number;
  /** That of a Deadline. */
  readonly signal: AbortSignal;
}

/**
 * @param arrived is filled while the answer arrives
 * @returns the status; the connection may serve another call unless the partner closes it
 * @throws ExchangeFault where no whole answer came; the connection is destroyed then
 */
export async function exchange(
  connection: Connection,
  request: WireRequest,
  limits: ExchangeLimits,
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
  request: WireRequest,
  { maxBodyBytes, signal }: ExchangeLimits,
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
        // 102 and 103 precede an answer. 100 and 101 were not requested: undici reports them as a broken answer.
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
): NoAnswerCode {
  if (error instanceof CallStopped) {
    if (error.why === 'aborted') return 'aborted';
    return hasHead ? 'too-slow' : 'timeout';
  }
  if (error instanceof errors.HeadersOverflowError) return 'too-large';
  // undici reports a 1xx status that was not requested with one of these texts.
  if (/bad (response|upgrade)$/.test(text)) return 'not-http';
  if (error instanceof errors.SocketError) return hasHead ? 'half-answer' : 'reset';
  if (error instanceof errors.ResponseContentLengthMismatchError || /EOF/.test(text)) {
    return hasHead ? 'half-answer' : 'not-http';
  }
  return error instanceof errors.HTTPParserError ? 'not-http' : 'reset';
}
