/**
 * Requests that Node could not even parse have no request and no reply, only a socket. They are answered here, by hand, and
 * signed like everything else: with the method and path of the request line where it can be found, else with both empty.
 */
import { randomUUID } from 'node:crypto';
import { type ServerResponse, STATUS_CODES } from 'node:http';
import { type Socket } from 'node:net';
import { type ApiError } from '../errors/api.error.js';
import { errorBody, JSON_TYPE } from '../errors/error-body.js';
import { toApiError } from '../errors/to-api-error.js';
import { type Admissions } from '../keys/admission.js';
import { addressKey } from '#libs/cache';
import { type AnsweredRequest, responseHeaders } from './response-headers.js';

/** What Node reports of a request it gave up. */
export interface ParseError extends Error {
  readonly code?: string | undefined;
  /** The bytes of the packet in which the parser stopped. */
  readonly rawPacket?: Buffer | undefined;
  readonly bytesParsed?: number | undefined;
}

/** A client that goes on sending is cut off after this time; until then it can read its answer. */
const LINGER_MS = 500;

const STATUSES: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
};

export class ClientErrors {
  private readonly answered = new WeakSet<Socket>();

  constructor(private readonly admissions: Admissions) {}

  /** Fastify's `clientErrorHandler`. */
  handle(error: ParseError, socket: Socket): void {
    if (this.answered.has(socket)) return;
    this.answered.add(socket);
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const pending = pendingAnswer(socket);
    if (pending !== undefined) {
      // An answer to an earlier request comes first; to a client that sent garbage behind it, it is the last.
      pending.once('close', () => socket.destroy());
      return;
    }
    this.answer(error, socket).catch(() => socket.destroy());
  }

  private async answer(error: ParseError, socket: Socket): Promise<void> {
    const request = requestLine(error);
    const admission = await this.admissions.anonymous(addressKey(socket.remoteAddress));
    const failure =
      admission.refusal ?? toApiError({ statusCode: STATUSES[error.code ?? ''] ?? 400 });
    const headers = headersOf(failure, responseHeaders(request, errorBody(failure), admission));
    const body = request.method === 'HEAD' ? '' : errorBody(failure);
    const reason = STATUS_CODES[failure.status] ?? 'Error';
    socket.end(`HTTP/1.1 ${failure.status} ${reason}\r\n${headers}\r\n${body}`);
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  }
}

function headersOf(failure: ApiError, common: Record<string, string>): string {
  const all = {
    ...common,
    ...(failure.retryAfterSeconds && { 'retry-after': String(failure.retryAfterSeconds) }),
    'content-type': JSON_TYPE,
    'content-length': String(Buffer.byteLength(errorBody(failure))),
    connection: 'close',
  };
  return Object.entries(all)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
}

/** The answer being written on the socket, unless it is to the very request that could not be parsed to its end. */
function pendingAnswer(socket: Socket): ServerResponse | undefined {
  // Node's own handler looks at the same field; there is no public one.
  const { _httpMessage: pending } = socket as Socket & {
    _httpMessage?: ServerResponse | null;
  };
  if (pending === undefined || pending === null) return undefined;
  return pending.headersSent || pending.req.complete ? pending : undefined;
}

const REQUEST_LINE = /(?:^|\r?\n)([A-Z-]+) ([^ \r\n]+) HTTP\/\d/g;

/** The request line of the request in which the parser stopped: the last one up to that place, if it is in the same packet. */
function requestLine({ rawPacket, bytesParsed }: ParseError): AnsweredRequest {
  const text = rawPacket?.toString('latin1') ?? '';
  const lines = [...text.matchAll(REQUEST_LINE)];
  const line = lines.findLast(({ index }) => index <= (bytesParsed ?? text.length));
  return { method: line?.[1] ?? '', url: line?.[2] ?? '', requestId: randomUUID() };
}
