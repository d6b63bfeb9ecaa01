/**
 * A partner on a real socket that does what a test says, byte by byte. Named as a test file, without tests of its own.
 */
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { canonicalJson } from '#libs/domain';
import { hmacSha256Hex } from '#libs/signing';
import { type Issued } from './certificates.support.js';

export const API_KEY = 'pk-live-7Qm2-secret-key';
export const SHARED_SECRET = 'whsec/Zx+81"no-body-may-see-this';

export interface SeenRequest {
  readonly method: string;
  readonly target: string;
  /** Name and value of each header, as received. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
  /** @param name in lower case */
  header(name: string): string | undefined;
}

export type Behaviour = (socket: Socket, request: SeenRequest) => void;

export interface AnswerFields {
  readonly status?: number;
  readonly body?: string | Buffer;
  /** Default: `application/json`, the length, and the signature of the body for this call. */
  readonly headers?: readonly (readonly [string, string])[];
}

export class RoguePartner {
  readonly requests: SeenRequest[] = [];
  connections = 0;
  /** Bytes received over all connections, after TLS. */
  bytes = 0;
  onConnect: (socket: Socket) => void = () => undefined;
  behave: Behaviour = (socket, request) => socket.end(answer(request));
  private readonly open = new Set<Socket>();

  private constructor(private readonly server: Server) {}

  static async start(tls?: Issued): Promise<RoguePartner> {
    const server =
      tls === undefined ? createServer() : createTlsServer({ cert: tls.certificate, key: tls.key });
    const partner = new RoguePartner(server);
    server.on(tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
      partner.serve(socket);
    });
    server.on('connection', (socket: Socket) => {
      partner.open.add(socket.on('error', () => undefined));
    });
    server.on('tlsClientError', () => undefined);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return partner;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    for (const socket of this.open) socket.destroy();
    await new Promise<void>((resolve) => {
      this.server.close(() => {
        resolve();
      });
    });
  }

  private serve(socket: Socket): void {
    this.connections++;
    socket.on('error', () => undefined);
    let received = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      this.bytes += chunk.length;
      received = Buffer.concat([received, chunk]);
      for (let request = take(received); request; request = take(received)) {
        received = received.subarray(request.length);
        this.requests.push(request.seen);
        this.behave(socket, request.seen);
      }
    });
    this.onConnect(socket);
  }
}

/** The first whole request in the bytes, and its length. */
function take(bytes: Buffer): { readonly seen: SeenRequest; readonly length: number } | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [line = '', ...rest] = bytes.toString('latin1', 0, end).split('\r\n');
  const [method = '', target = ''] = line.split(' ');
  const headers = rest.map((text) => {
    const colon = text.indexOf(':');
    return [text.slice(0, colon), text.slice(colon + 1).trim()] as const;
  });
  const header = (name: string): string | undefined =>
    headers.find(([given]) => given.toLowerCase() === name)?.[1];
  const length = end + 4 + Number(header('content-length') ?? 0);
  if (bytes.length < length) return undefined;
  const body = bytes.toString('utf8', end + 4, length);
  return { seen: { method, target, headers, body, header }, length };
}

/** The signature of a body as the answer to the request. */
export function signatureFor(request: SeenRequest, body: string | Buffer): string {
  const path = request.target.split('?')[0] ?? '';
  const head = request.method + path + (request.header('x-api-request') ?? '');
  return hmacSha256Hex(SHARED_SECRET, Buffer.concat([Buffer.from(head), Buffer.from(body)]));
}

export const SUCCESS = canonicalJson({ partnerTransactionId: 'ptx-1', success: true });

export function answer(request: SeenRequest, fields: AnswerFields = {}): Buffer {
  const { status = 200, body = SUCCESS } = fields;
  const headers = fields.headers ?? [
    ['content-type', 'application/json'],
    ['content-length', String(Buffer.byteLength(body))],
    ['x-api-signature', signatureFor(request, body)],
  ];
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status} Text\r\n${lines}\r\n`), Buffer.from(body)]);
}

/** The headers of an answer with changes; an undefined value removes a header. */
export function headersOf(
  request: SeenRequest,
  body: string | Buffer,
  change: Readonly<Record<string, string | undefined>> = {},
): (readonly [string, string])[] {
  const all: Readonly<Record<string, string | undefined>> = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'x-api-signature': signatureFor(request, body),
    ...change,
  };
  return Object.entries(all).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
}

interface ReplyFields {
  readonly status?: number;
  readonly body?: string | Buffer;
  /** Changes of the headers; an undefined value removes one. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

export const UNSIGNED = { 'x-api-signature': undefined };

/** Answers each call so, and ends the connection. */
export function replies({ status = 200, body = SUCCESS, headers }: ReplyFields): Behaviour {
  return (socket, request) =>
    socket.end(answer(request, { status, body, headers: headersOf(request, body, headers) }));
}
