/**
 * Sends one request within one time limit, as the service does: it follows no redirect and never retries. Each request
 * has a connection of its own, so that an earlier call cannot disturb it; the story of kept connections passes an
 * agent.
 */
import { isUtf8 } from 'node:buffer';
import {
  type Agent,
  type ClientRequest,
  type IncomingMessage,
  request as requestHttp,
} from 'node:http';
import { request as requestHttps } from 'node:https';
import { type LookupFunction } from 'node:net';
import {
  type Outcome,
  type NoAnswer,
  type Reading,
  type ReadingFault,
  type Sent,
} from './exchange.js';

/** The service's limit for the body of an answer, in bytes. */
const MAX_BODY_BYTES = 64 * 1024;

/** The service's timeout for a connection, in milliseconds. */
const CONNECT_TIMEOUT_MS = 3000;

interface TransportLimits {
  readonly timeoutMs: number;
  /** Keeps the connection for the next call. */
  readonly agent?: Agent | undefined;
  /** Default: the resolver of the system. */
  readonly lookup?: LookupFunction | undefined;
}

export function transport(baseUrl: URL, sent: Sent, limits: TransportLimits): Promise<Outcome> {
  const { timeoutMs, agent, lookup } = limits;
  const startedAt = performance.now();
  const durationMs = (): number => Math.round(performance.now() - startedAt);
  return new Promise((resolve) => {
    let isConnected = false;
    const request = open(baseUrl, sent, { agent, lookup });
    const end = (came: Outcome): void => {
      clearTimeout(timer);
      clearTimeout(connectTimer);
      resolve(came);
      if (agent === undefined || came.kind === 'none') request.destroy();
    };
    const none = (fault: NoAnswer['fault'], detail: string): void => {
      end({ kind: 'none', fault, detail, durationMs: durationMs() });
    };
    const timer = setTimeout(() => {
      none(isConnected ? 'timeout' : 'not-sent', `no whole answer within ${timeoutMs} ms`);
    }, timeoutMs);
    const connectTimer = setTimeout(() => {
      if (!isConnected) none('not-sent', `no connection within ${CONNECT_TIMEOUT_MS} ms`);
    }, CONNECT_TIMEOUT_MS);
    request.on('error', (error) => {
      none(isConnected ? 'broken' : 'not-sent', describe(error));
    });
    request.on('socket', (socket) => {
      const isSecure = baseUrl.protocol === 'https:';
      // A kept connection is already connected.
      if (!socket.connecting) isConnected = true;
      socket.once(isSecure ? 'secureConnect' : 'connect', () => (isConnected = true));
    });
    request.on('response', (response) => {
      isConnected = true;
      collect(response, {
        onWhole: (body) => {
          end({ kind: 'answer', ...headOf(response), body, durationMs: durationMs() });
        },
        onBroken: none,
      });
    });
    request.end(sent.body);
  });
}

function open(
  baseUrl: URL,
  { method, target, headers }: Sent,
  { agent, lookup }: Pick<TransportLimits, 'agent' | 'lookup'>,
): ClientRequest {
  const secure = baseUrl.protocol === 'https:';
  return (secure ? requestHttps : requestHttp)({
    protocol: baseUrl.protocol,
    // Only a URL has brackets around an IPv6 address.
    hostname: baseUrl.hostname.replace(/^\[|\]$/g, ''),
    ...(baseUrl.port === '' ? {} : { port: Number(baseUrl.port) }),
    method,
    path: target,
    headers: agent === undefined ? { ...headers, connection: 'close' } : headers,
    agent: agent ?? false,
    ...(lookup && { lookup }),
  });
}

function collect(
  response: IncomingMessage,
  ends: {
    readonly onWhole: (body: Buffer) => void;
    readonly onBroken: (fault: NoAnswer['fault'], detail: string) => void;
  },
): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes <= MAX_BODY_BYTES) return;
    response.removeAllListeners('data');
    ends.onBroken('too-large', `the body is larger than ${MAX_BODY_BYTES} bytes`);
  });
  response.on('error', (error) => {
    ends.onBroken('broken', `status ${response.statusCode ?? 0}, then: ${describe(error)}`);
  });
  response.on('end', () => {
    ends.onWhole(Buffer.concat(chunks));
  });
}

function headOf(response: IncomingMessage) {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(response.headersDistinct)) {
    if (value !== undefined) headers[name] = value.join(', ');
  }
  return { status: response.statusCode ?? 0, headers };
}

function describe(error: Error): string {
  const { code } = error as NodeJS.ErrnoException;
  return code === undefined ? error.message : `${code}: ${error.message}`;
}

/**
 * Reads an answer leniently, so that one mistake in its form does not hide how the partner behaves. `audits/` judges
 * the form separately, over all answers. An unreadable answer names the check that reports it.
 */

type Fields = Readonly<Record<string, unknown>>;

const FAULTS = {
  'not-sent': 'http-answers',
  broken: 'http-answers',
  timeout: 'http-in-time',
  'too-large': 'http-size',
} as const;

export function readAnswer(came: Outcome): Reading {
  if (came.kind === 'none') return unreadable(FAULTS[came.fault], came.detail);
  const { status, headers } = came;
  if (status >= 300 && status < 400) {
    return unreadable('http-redirect', `${status} to ${headers['location'] ?? 'nowhere'}`);
  }
  const json = jsonOf(came.body);
  const encoding = headers['content-encoding'] ?? 'identity';
  if (json === undefined && encoding !== 'identity') {
    const why = `the body is compressed (Content-Encoding: ${encoding}), though identity was asked for`;
    return unreadable('http-content-type', why);
  }
  if (json === undefined) {
    const type = headers['content-type'] ?? 'no content type';
    return unreadable('http-json', `status ${status}, ${type}, and the body is not JSON in UTF-8`);
  }
  return readEnvelope(json.value);
}

function readEnvelope(value: unknown): Reading {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return unreadable('answer-envelope', 'the body is not a JSON object');
  }
  const fields = value as Fields;
  const { success, errorCode, errorMessage } = fields;
  if (success === true) return { kind: 'success', fields };
  if (success !== false) {
    return unreadable('answer-envelope', `success is ${text(success)}, neither true nor false`);
  }
  if (typeof errorCode !== 'string' || errorCode === '' || errorCode.length > 64) {
    return unreadable('answer-envelope', `success is false and errorCode is ${text(errorCode)}`);
  }
  if (typeof errorMessage !== 'string') {
    const message = `success is false and errorMessage is ${text(errorMessage)}`;
    return unreadable('answer-envelope', message);
  }
  return { kind: 'refusal', code: errorCode, fields };
}

/** The value of a body; undefined where the body is not JSON in UTF-8. */
export function jsonOf(body: Uint8Array): { readonly value: unknown } | undefined {
  if (!isUtf8(body)) return undefined;
  try {
    return { value: JSON.parse(Buffer.from(body).toString('utf8')) as unknown };
  } catch {
    // The body is not JSON, which the caller reports.
    return undefined;
  }
}

/** A value as JSON for a message, so that `"1"` and `1` differ, and missing and null. The report shortens long ones. */
export function text(value: unknown): string {
  if (value === undefined) return 'missing';
  return JSON.stringify(value);
}

function unreadable(fault: ReadingFault, why: string): Reading {
  return { kind: 'unreadable', fault, why };
}
