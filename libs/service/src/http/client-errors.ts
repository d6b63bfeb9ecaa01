/**
 * A request that Node could not parse has neither a request nor a reply object, only a socket. The service decides the
 * answer, and `ClientErrors` writes the answer to the socket.
 */
import { randomUUID } from 'node:crypto';
import { type ServerResponse, STATUS_CODES } from 'node:http';
import { type Socket } from 'node:net';

/** The error that Node reports for a request that it could not parse. */
export interface ParseError extends Error {
  readonly code?: string | undefined;
  /** The packet in which the parser stopped. */
  readonly rawPacket?: Buffer | undefined;
  readonly bytesParsed?: number | undefined;
}

/** The known facts of a request that Node could not parse. */
export interface UnparsedRequest {
  /** Method as sent; empty where the request line could not be read. */
  readonly method: string;
  /** The request target as sent; empty where the request line could not be read. */
  readonly url: string;
  readonly requestId: string;
  /** Status of the answer: 400, 408, 413 or 431. */
  readonly status: number;
  readonly clientAddress: string | undefined;
}

export interface RawAnswer {
  readonly status: number;
  /** Headers without `content-length` and `connection`, which `ClientErrors` adds. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Time for the client to read its answer before the socket is destroyed, in case the client goes on sending. */
const LINGER_MS = 500;

const STATUSES: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
};

export class ClientErrors {
  private readonly answered = new WeakSet<Socket>();

  constructor(
    private readonly answerTo: (request: UnparsedRequest) => RawAnswer | Promise<RawAnswer>,
  ) {}

  /** Handler for Fastify's option `clientErrorHandler`. */
  handle(error: ParseError, socket: Socket): void {
    if (this.answered.has(socket)) return;
    this.answered.add(socket);
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const pending = pendingAnswer(socket);
    if (pending !== undefined) {
      // The answer to an earlier request of the connection is written first, and it is the last one on this connection.
      pending.once('close', () => socket.destroy());
      return;
    }
    this.answer(error, socket).catch(() => socket.destroy());
  }

  private async answer(error: ParseError, socket: Socket): Promise<void> {
    const request = brokenRequest(error, socket.remoteAddress);
    const { status, headers, body } = await this.answerTo(request);
    const all = {
      ...headers,
      'content-length': String(Buffer.byteLength(body)),
      connection: 'close',
    };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    const sent = request.method === 'HEAD' ? '' : body;
    const reason = STATUS_CODES[status] ?? 'Error';
    socket.end(`HTTP/1.1 ${status} ${reason}\r\n${lines.join('')}\r\n${sent}`);
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  }
}

/** The answer that is being written on the socket, unless it answers the request that could not be parsed. */
function pendingAnswer(socket: Socket): ServerResponse | undefined {
  // Node's own handler reads the same private field; there is no public one.
  const { _httpMessage: pending } = socket as Socket & {
    _httpMessage?: ServerResponse | null;
  };
  if (pending === undefined || pending === null) return undefined;
  return pending.headersSent || pending.req.complete ? pending : undefined;
}

const REQUEST_LINE = /(?:^|\r?\n)([A-Z-]+) ([^ \r\n]+) HTTP\/\d/g;

/** Reads method and URL from the last request line before the parser's stop, if the line is in the same packet. */
function brokenRequest(
  { code, rawPacket, bytesParsed }: ParseError,
  clientAddress: string | undefined,
): UnparsedRequest {
  const text = rawPacket?.toString('latin1') ?? '';
  const lines = [...text.matchAll(REQUEST_LINE)];
  const line = lines.findLast(({ index }) => index <= (bytesParsed ?? text.length));
  const status = STATUSES[code ?? ''] ?? 400;
  const [method, url] = [line?.[1] ?? '', line?.[2] ?? ''];
  return { method, url, requestId: randomUUID(), status, clientAddress };
}
