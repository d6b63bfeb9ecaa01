/**
 * Requests that Node could not even parse have no request and no reply, only a socket. They are answered by hand: the service says
 * what, this writes it.
 */
import { randomUUID } from 'node:crypto';
import { type ServerResponse, STATUS_CODES } from 'node:http';
import { type Socket } from 'node:net';

/** What Node reports of a request it gave up. */
export interface ParseError extends Error {
  readonly code?: string | undefined;
  /** The bytes of the packet in which the parser stopped. */
  readonly rawPacket?: Buffer | undefined;
  readonly bytesParsed?: number | undefined;
}

/** What is known of such a request. */
export interface BrokenRequest {
  /** As sent; empty where the request line could not be read. */
  readonly method: string;
  /** The request target as sent; empty where the request line could not be read. */
  readonly url: string;
  readonly requestId: string;
  /** What it is refused with: 400, 408, 413 or 431. */
  readonly status: number;
  readonly clientAddress: string | undefined;
}

export interface BareAnswer {
  readonly status: number;
  /** Without the length and the end of the connection, which are added. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
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

  constructor(
    private readonly answerTo: (request: BrokenRequest) => BareAnswer | Promise<BareAnswer>,
  ) {}

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

/** By the request line of the request in which the parser stopped: the last one up to that place, if it is in the same packet. */
function brokenRequest(
  { code, rawPacket, bytesParsed }: ParseError,
  clientAddress: string | undefined,
): BrokenRequest {
  const text = rawPacket?.toString('latin1') ?? '';
  const lines = [...text.matchAll(REQUEST_LINE)];
  const line = lines.findLast(({ index }) => index <= (bytesParsed ?? text.length));
  const status = STATUSES[code ?? ''] ?? 400;
  const [method, url] = [line?.[1] ?? '', line?.[2] ?? ''];
  return { method, url, requestId: randomUUID(), status, clientAddress };
}
