/**
 * Sends one request within one time limit, as the service does: it follows no redirect and never retries. Each request
 * has a connection of its own, so that an earlier call cannot disturb it; the story of kept connections passes an
 * agent.
 */
import {
  type Agent,
  type ClientRequest,
  type IncomingMessage,
  request as requestHttp,
} from 'node:http';
import { request as requestHttps } from 'node:https';
import { type LookupFunction } from 'node:net';
import { type NotSentCode } from '../../answers/index.js';
import { type Failure, type Outcome, type Sent, writtenHeaders } from './exchange.js';

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

type None = (failure: Failure, detail: string) => void;

const NO_CONNECTION: Failure = { fault: 'not-sent', cause: 'connect-timeout' };

/** Why there is no connection. Any other error is one of TLS. */
const NOT_CONNECTED: Readonly<Record<string, NotSentCode>> = {
  ECONNREFUSED: 'connection-refused',
  ECONNRESET: 'unreachable',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  ETIMEDOUT: 'connect-timeout',
  EAI_AGAIN: 'dns',
  ENOTFOUND: 'dns',
};

export function transport(baseUrl: URL, sent: Sent, limits: TransportLimits): Promise<Outcome> {
  const { timeoutMs, agent, lookup } = limits;
  const startedAt = performance.now();
  const durationMs = (): number => Math.round(performance.now() - startedAt);
  return new Promise((resolve) => {
    let isConnected = false;
    let hasBegun = false;
    const request = open(baseUrl, sent, { agent, lookup });
    const end = (came: Outcome): void => {
      clearTimeout(timer);
      clearTimeout(connectTimer);
      resolve(came);
      if (agent === undefined || came.kind === 'none') request.destroy();
    };
    const none: None = (failure, detail) => {
      end({ kind: 'none', ...failure, detail, durationMs: durationMs() });
    };
    const timer = setTimeout(() => {
      const detail = `no whole answer within ${timeoutMs} ms`;
      if (!isConnected) none(NO_CONNECTION, detail);
      else none({ fault: 'timeout', cause: hasBegun ? 'too-slow' : 'timeout' }, detail);
    }, timeoutMs);
    const connectTimer = setTimeout(() => {
      const detail = `no connection within ${CONNECT_TIMEOUT_MS} ms`;
      if (!isConnected) none(NO_CONNECTION, detail);
    }, CONNECT_TIMEOUT_MS);
    request.on('error', (error: NodeJS.ErrnoException) => {
      const { code = '' } = error;
      const cause = code.startsWith('HPE_') ? 'not-http' : 'reset';
      const failure = isConnected ? ({ fault: 'broken', cause } as const) : notConnected(code);
      none(failure, describe(error));
    });
    request.on('socket', (socket) => {
      const isSecure = baseUrl.protocol === 'https:';
      // A kept connection is already connected.
      if (!socket.connecting) isConnected = true;
      socket.once(isSecure ? 'secureConnect' : 'connect', () => (isConnected = true));
    });
    request.on('response', (response) => {
      isConnected = true;
      hasBegun = true;
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
  sent: Sent,
  { agent, lookup }: Pick<TransportLimits, 'agent' | 'lookup'>,
): ClientRequest {
  const { method, target } = sent;
  const headers = writtenHeaders(sent);
  const secure = baseUrl.protocol === 'https:';
  return (secure ? requestHttps : requestHttp)({
    protocol: baseUrl.protocol,
    // Only a URL has brackets around an IPv6 address.
    hostname: baseUrl.hostname.replace(/^\[|\]$/g, ''),
    ...(baseUrl.port === '' ? {} : { port: Number(baseUrl.port) }),
    method,
    path: target,
    headers: agent === undefined ? { ...headers, Connection: 'close' } : headers,
    agent: agent ?? false,
    ...(lookup && { lookup }),
  });
}

function collect(
  response: IncomingMessage,
  ends: {
    readonly onWhole: (body: Buffer) => void;
    readonly onBroken: None;
  },
): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes <= MAX_BODY_BYTES) return;
    response.removeAllListeners('data');
    ends.onBroken(
      { fault: 'too-large', cause: 'too-large' },
      `the body is larger than ${MAX_BODY_BYTES} bytes`,
    );
  });
  response.on('error', (error) => {
    const detail = `status ${response.statusCode ?? 0}, then: ${describe(error)}`;
    ends.onBroken({ fault: 'broken', cause: 'half-answer' }, detail);
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

function notConnected(code: string): Failure {
  return { fault: 'not-sent', cause: NOT_CONNECTED[code] ?? 'tls' };
}

function describe(error: Error): string {
  const { code } = error as NodeJS.ErrnoException;
  return code === undefined ? error.message : `${code}: ${error.message}`;
}

/** A value as JSON for a message, so that `"1"` and `1` differ, and missing and null. The report shortens long ones. */
export function text(value: unknown): string {
  if (value === undefined) return 'missing';
  return JSON.stringify(value);
}
