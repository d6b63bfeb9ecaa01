import { setTimeout as sleep } from 'node:timers/promises';
import { ConnectionError, LowmarkApiError, TimeoutError } from './errors.js';

/** An answer as received, not verified. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

export interface StakingRequest {
  readonly url: string;
  /** JSON. A request with a body is a POST, which only reads, as a GET does. */
  readonly body?: string;
}

export interface ExchangeOptions {
  readonly fetch: typeof fetch;
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds for all attempts and the waits between them. */
  readonly timeoutMs: number;
  /** Attempts after the first. */
  readonly retries: number;
}

/** Limit in bytes; an answer of thirty days is below 4 KiB. */
const MAX_BODY_BYTES = 1024 * 1024;
/** Limit in bytes of a batch, which holds up to a thousand answers. */
const MAX_BATCH_BODY_BYTES = 8 * 1024 * 1024;
const BACKOFF_MS = 250;
/** Retried statuses, with those that gateways send while the service restarts. A retry trusts nothing in an answer. */
export const PASSING: readonly number[] = [429, 502, 503, 504];

/**
 * Sends a request within one time limit. The statuses of `PASSING` and broken connections are retried, not before
 * `Retry-After`. Where the wait would exceed the time limit, the last answer is returned at once, or the last error
 * thrown.
 * @throws ConnectionError, TimeoutError
 */
export async function exchange(
  request: StakingRequest,
  options: ExchangeOptions,
): Promise<RawAnswer> {
  const { timeoutMs, retries } = options;
  const endMs = performance.now() + timeoutMs;
  const signal = AbortSignal.timeout(timeoutMs);
  let last: RawAnswer | undefined;
  for (let attempt = 0; ; attempt += 1) {
    const outcome = await attemptOnce(request, options, signal);
    if (outcome instanceof Error) {
      if (signal.aborted) throw timedOut(timeoutMs, last, outcome);
      if (attempt >= retries) throw outcome;
    } else {
      if (!PASSING.includes(outcome.status) || attempt >= retries) return outcome;
      last = outcome;
    }
    const waitMs = waitAfter(outcome, attempt);
    if (performance.now() + waitMs >= endMs) {
      if (outcome instanceof Error) throw outcome;
      return outcome;
    }
    await sleep(waitMs);
  }
}

function timedOut(timeoutMs: number, last: RawAnswer | undefined, error: Error): TimeoutError {
  const cause =
    last === undefined ? error : new Error(`The last answer had status ${last.status}.`);
  return new TimeoutError(timeoutMs, { cause });
}

async function attemptOnce(
  { url, body }: StakingRequest,
  options: ExchangeOptions,
  signal: AbortSignal,
): Promise<RawAnswer | ConnectionError> {
  try {
    const { headers } = options;
    // A redirect would carry the key to another host.
    const response = await options.fetch(url, {
      ...{ headers, signal, redirect: 'manual' },
      ...(body !== undefined && { method: 'POST', body }),
    });
    return {
      status: response.status,
      headers: response.headers,
      body: await readBody(response, body === undefined ? MAX_BODY_BYTES : MAX_BATCH_BODY_BYTES),
    };
  } catch (cause) {
    return new ConnectionError({ cause });
  }
}

export async function readBody(response: Response, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error('The body is too large.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** @param body the parsed body of the verified answer */
export function refusalOf({ status, headers }: RawAnswer, body: unknown): LowmarkApiError {
  const { code, message } = (body ?? {}) as { code?: unknown; message?: unknown };
  return new LowmarkApiError({
    status,
    code: typeof code === 'string' ? code : 'UNKNOWN',
    message: typeof message === 'string' ? message : `The service answered with status ${status}.`,
    retryAfterSeconds: retryAfterSeconds(headers),
  });
}

/**
 * Milliseconds to wait after an attempt: exponential backoff with jitter, which spreads callers that failed together,
 * and at least `Retry-After`.
 */
export function waitAfter(outcome: RawAnswer | Error, attempt: number): number {
  const backoffMs = BACKOFF_MS * 2 ** attempt * (0.5 + Math.random() / 2);
  if (!('status' in outcome)) return backoffMs;
  return Math.max(backoffMs, (retryAfterSeconds(outcome.headers) ?? 0) * 1000);
}

/** `Retry-After` in seconds, as the service writes it; undefined where the header is absent or has another form. */
export function retryAfterSeconds(headers: Headers): number | undefined {
  const text = headers.get('retry-after') ?? '';
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}
