/** Minimal HTTP on bytes, for a partner that must be able to answer wrongly. */
import { hmacSha256Hex } from '#libs/signing';

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** @param name in lower case */
  header(name: string): string | undefined;
  readonly body: string;
}

/** The first whole request in the bytes; undefined where there is none yet. */
export function requestIn(bytes: Buffer): SeenRequest | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [line = '', ...rest] = bytes.toString('latin1', 0, end).split('\r\n');
  const [method = '', target = ''] = line.split(' ');
  const headers = new Map(
    rest.map((text) => {
      const colon = text.indexOf(':');
      return [text.slice(0, colon).toLowerCase(), text.slice(colon + 1).trim()] as const;
    }),
  );
  const length = end + 4 + Number(headers.get('content-length') ?? 0);
  if (bytes.length < length) return undefined;
  return {
    method,
    path: target.split('?')[0] ?? '',
    query: new URLSearchParams(target.split('?')[1] ?? ''),
    header: (name) => headers.get(name),
    body: bytes.toString('utf8', end + 4, length),
  };
}

/** The signature of a body, as the request itself or as the answer to it: both sign the same content. */
export function signatureOf(request: SeenRequest, body: string, secret: string): string {
  const { method, path } = request;
  return hmacSha256Hex(secret, method + path + (request.header('x-api-request') ?? '') + body);
}

export interface AnswerFields {
  readonly status?: number;
  readonly body: string;
  /** Absent: the answer is not signed. */
  readonly signature?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

export function answerBytes({ status = 200, body, signature, headers = {} }: AnswerFields): Buffer {
  const all: Readonly<Record<string, string>> = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
    ...(signature === undefined ? {} : { 'x-api-signature': signature }),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`HTTP/1.1 ${status} Text\r\n${lines.join('')}\r\n${body}`);
}

export function sendRefusal(status: number): Buffer {
  return answerBytes({ status, body: '' });
}
