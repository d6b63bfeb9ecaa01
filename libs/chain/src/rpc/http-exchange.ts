/**
 * One HTTP exchange with a node: sends JSON-RPC calls and receives a JSON body, under one timeout for the whole exchange
 * (`HttpExchange`), and finds the result of each call in this body (`matchAnswers`).
 *
 * undici's `request` costs half as much as `fetch`, and follows no redirect. The error of a request may quote its URL,
 * so that only codes and messages leave this file, without the secrets of the URL.
 */
import { type Duplex, pipeline } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { Agent, request } from 'undici';
import { deadlineIn } from '#libs/platform';
import { SMALLEST_BATCH } from './batch.js';
import { classifyRpcError, growsWithRange, retryAfterMs } from './classify-rpc-error.js';
import { basicCredentials, redact } from './redact.js';
import { isRecord } from './hex.js';
import { type EndpointUrl } from './endpoint-urls.js';
import { parseJsonBody } from './json-body.js';
import { KeptBuffers } from './kept-buffers.js';
import { type ListReader, type RpcCall, type RpcResult } from './rpc-call.js';
import {
  BatchTooLargeError,
  ExecutionRevertedError,
  MalformedAnswerError,
  OverloadedError,
  RangeTooLargeError,
  RateLimitedError,
  RpcRefusedError,
  RpcTimeoutError,
  TransportError,
  UnreachableError,
  RpcError,
} from './rpc.errors.js';

/** Sends a body to a URL: over the network, or to a simulated node, for which the rest of this file is the same. */
export type PostBody = (
  url: string,
  request: {
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
    readonly signal: AbortSignal;
  },
) => Promise<{
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: AsyncIterable<Buffer>;
}>;

interface HttpExchangeOptions {
  readonly post: PostBody;
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
  /** The wall clock, for dates in `Retry-After`. */
  readonly time: { wallMs(): number };
}

export interface WireCall extends RpcCall {
  readonly id: number;
}

interface HttpAnswer {
  readonly body: unknown;
  readonly bytes: number;
  readonly status: number;
  readonly retryAfterMs: number | undefined;
}

interface Progress {
  status: number;
  retryAfterMs: number | undefined;
  /** Bytes of the decoded body. */
  bytes: number;
}

class BodyTooLarge extends Error {}

const TIMEOUT_STATUS = new Set([408, 504, 522, 524, 598]);
/** The key is not valid, or nothing is left to pay with. */
const ABOUT_ACCOUNT = new Set([401, 402]);
const UNREACHABLE =
  /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|CERT|ERR_SSL|ERR_TLS/;
/** The connection broke during the answer, which is how some nodes refuse a request that is too large for them. */
const CUT = /terminated|ECONNRESET|EPIPE|UND_ERR_SOCKET|other side closed/;

/** Posts over connections of its own. */
export function postOverHttp(): PostBody {
  // The signal carries the only timeout.
  const dispatcher = new Agent({ allowH2: false, headersTimeout: 0, bodyTimeout: 0 });
  return (url, asked) => request(url, { ...asked, method: 'POST', dispatcher });
}

export class HttpExchange {
  private readonly url: string;
  private readonly headers: Readonly<Record<string, string>>;
  private readonly buffers = new KeptBuffers();

  constructor(
    private readonly at: EndpointUrl,
    private readonly options: HttpExchangeOptions,
  ) {
    const url = new URL(at.url);
    const credentials = basicCredentials(url);
    [url.username, url.password] = ['', ''];
    this.url = url.href;
    this.headers = {
      'content-type': 'application/json',
      'accept-encoding': 'gzip, deflate, br',
      ...(credentials !== undefined && { authorization: `Basic ${credentials}` }),
    };
  }

  /**
   * @returns the parsed body; with a status other than 2xx only if the body is a JSON-RPC error, or a list of answers
   * @throws RpcError of the class that fits the failure, or the reason of `signal` if it was aborted
   */
  async send(calls: readonly WireCall[], signal: AbortSignal | undefined): Promise<HttpAnswer> {
    signal?.throwIfAborted();
    const progress: Progress = { status: 0, retryAfterMs: undefined, bytes: 0 };
    const { timeoutMs } = this.options;
    const late = (): Error =>
      new RpcTimeoutError(`no whole answer within ${timeoutMs} ms`, this.at);
    const deadline = deadlineIn(timeoutMs, { late, parent: signal });
    try {
      const body = await this.exchange(calls, progress, deadline.signal);
      const { bytes, status, retryAfterMs: waitMs } = progress;
      if (status === 429 || body === undefined) throw this.failure(undefined, progress, calls);
      return { body, bytes, status, retryAfterMs: waitMs };
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof RpcError) throw error;
      throw this.failure(error, progress, calls);
    } finally {
      // Ends an answer that is too large, without waiting for its rest.
      deadline.abort();
    }
  }

  /**
   * @returns the parsed body; undefined where a failure has no answer in it
   * @throws BodyTooLarge, SyntaxError, and errors of the connection
   */
  private async exchange(
    calls: readonly WireCall[],
    progress: Progress,
    signal: AbortSignal,
  ): Promise<unknown> {
    // A single call is no batch, which some nodes do not answer.
    const requests = calls.map(({ id, method, params }) => ({
      jsonrpc: '2.0',
      id,
      method,
      params,
    }));
    const readerOf = (id: unknown): ListReader | undefined =>
      calls[indexOf(id, calls) ?? -1]?.reader?.();
    const { statusCode, headers, body } = await this.options.post(this.url, {
      headers: this.headers,
      body: JSON.stringify(requests.length === 1 ? requests[0] : requests),
      signal,
    });
    progress.status = statusCode;
    const retryAfter = headers['retry-after'];
    const header = (Array.isArray(retryAfter) ? retryAfter[0] : retryAfter) ?? null;
    progress.retryAfterMs = retryAfterMs(header, this.options.time.wallMs());
    const isGood = statusCode >= 200 && statusCode < 300;
    return this.buffers.read(
      decoded(body, headers['content-encoding']),
      (bytes) => {
        progress.bytes = bytes;
        if (bytes > this.options.maxResponseBytes) throw new BodyTooLarge();
      },
      isGood ? (bytes) => parseJsonBody(bytes, readerOf) : rpcAnswerIn,
    );
  }

  private failure(error: unknown, progress: Progress, calls: readonly WireCall[]): RpcError {
    const { maxResponseBytes } = this.options;
    const { status } = progress;
    const at = { endpoint: this.at.endpoint, httpStatus: status === 0 ? undefined : status };
    const grows = growsWithRange(calls[0]?.method ?? '');
    if (error instanceof BodyTooLarge || status === 413) {
      const what =
        status === 413 ? 'HTTP 413' : `the answer is larger than ${maxResponseBytes} bytes`;
      if (grows) return new RangeTooLargeError(what, at);
      // One answer without end to the smallest batch does not say that the endpoint takes no batches.
      const isBatchRefused = calls.length > (status === 413 ? 1 : SMALLEST_BATCH);
      return isBatchRefused
        ? new BatchTooLargeError(what, at)
        : new TransportError(what, { ...at, sizeMayExplain: true });
    }
    if (status === 429) {
      return new RateLimitedError('HTTP 429', { ...at, retryAfterMs: progress.retryAfterMs });
    }
    if (TIMEOUT_STATUS.has(status)) return new RpcTimeoutError(`HTTP ${status}`, at);
    if (status === 503) {
      return new OverloadedError('HTTP 503', { ...at, sizeMayExplain: true });
    }
    if (status >= 500) {
      return new TransportError(`HTTP ${status}`, { ...at, sizeMayExplain: true });
    }
    if (status >= 300 && status < 400) {
      return new TransportError(`HTTP ${status}: a redirect is not followed`, at);
    }
    if (status >= 400) {
      const sizeMayExplain = grows && !ABOUT_ACCOUNT.has(status);
      return new RpcRefusedError(`HTTP ${status}`, { ...at, rpcCode: status, sizeMayExplain });
    }
    if (error instanceof SyntaxError && error.message.startsWith('Unterminated')) {
      return new TransportError('the answer was cut off', { ...at, sizeMayExplain: true });
    }
    const reason = networkReason(error, this.at.secrets);
    if (status >= 200 && !CUT.test(reason)) {
      return new MalformedAnswerError('the answer is not JSON', { ...at, sizeMayExplain: true });
    }
    if (UNREACHABLE.test(reason)) return new UnreachableError(reason, at);
    return new TransportError(reason, { ...at, sizeMayExplain: CUT.test(reason) });
  }
}

/**
 * Matches the answers of a batch to its calls by their ids; nodes may answer in any order.
 * @returns one result for each call, in the order of the calls
 * @throws the error of the whole batch if the node answered with one; MalformedAnswerError if an answer is missing,
 * occurs twice, was not asked for, or has neither result nor error
 */
export function matchAnswers(
  calls: readonly WireCall[],
  answer: HttpAnswer,
  at: EndpointUrl,
): RpcResult[] {
  const first = calls[0];
  if (!first) return [];
  const malformed = (what: string): Error =>
    new MalformedAnswerError(what, { ...at, sizeMayExplain: true });
  const entries = entriesOf(calls, answer);
  if (!entries) {
    const error =
      wholeBatchError(answer, first, at) ?? malformed('a batch was not answered with a list');
    // A revert is an answer, with any status.
    if (calls.length === 1 && error instanceof ExecutionRevertedError)
      return [{ ok: false, error }];
    throw error;
  }
  const results = new Array<RpcResult | undefined>(calls.length).fill(undefined);
  let failed: RpcResult | undefined;
  for (const entry of entries) {
    if (!isRecord(entry)) throw malformed('an answer of the batch is not an object');
    const index = indexOf(entry['id'], calls);
    const result = resultOf(entry, calls, answer, at);
    if (!result) throw malformed('an answer has neither result nor error');
    if (!result.ok && !failed) failed = result;
    // An error about the batch itself has the id null, or none.
    if ((entry['id'] ?? null) === null && !result.ok) throw result.error;
    if (index === undefined) throw malformed('the batch holds an answer to nothing we asked');
    if (results[index]) throw malformed('the batch answers one call twice');
    results[index] = result;
  }
  if (failed && !failed.ok && failed.error instanceof BatchTooLargeError) throw failed.error;
  return results.map((result) => {
    if (result) return result;
    // A node that gives up in the middle says why in its last answer.
    if (failed && !failed.ok) throw failed.error;
    throw malformed('the batch lacks an answer');
  });
}

/** The answers in a body; undefined if it is an error about the whole request. */
function entriesOf(
  calls: readonly WireCall[],
  { body, status }: HttpAnswer,
): readonly unknown[] | undefined {
  if (Array.isArray(body)) return body as unknown[];
  const isAnswer = calls.length === 1 && isRecord(body) && (status < 500 || !('error' in body));
  return isAnswer ? [body] : undefined;
}

function resultOf(
  entry: Record<string, unknown>,
  calls: readonly WireCall[],
  answer: HttpAnswer,
  at: EndpointUrl,
): RpcResult | undefined {
  const first = calls[0] as WireCall;
  if (entry['error'] !== undefined && entry['error'] !== null) {
    const call = calls[indexOf(entry['id'], calls) ?? 0] ?? first;
    const { retryAfterMs } = answer;
    return {
      ok: false,
      error: classifyRpcError(entry['error'], { ...at, call, retryAfterMs }),
    };
  }
  if (entry['result'] !== undefined) return { ok: true, value: entry['result'] };
  // Some gateways leave out a result that is null. Not for logs: a missing list does not prove that there are none.
  const method = calls[indexOf(entry['id'], calls) ?? -1]?.method ?? '';
  const isNull = entry['jsonrpc'] !== undefined && !growsWithRange(method);
  return isNull ? { ok: true, value: null } : undefined;
}

/** Undefined if the body is no error. */
function wholeBatchError(answer: HttpAnswer, first: WireCall, at: EndpointUrl): Error | undefined {
  const { body, status, retryAfterMs } = answer;
  if (isRecord(body) && body['error'] !== undefined && body['error'] !== null) {
    const error = classifyRpcError(body['error'], { ...at, call: first, retryAfterMs });
    // With a 5xx status, an error without a known meaning is a failure of the server.
    const isServerError = status >= 500 && error instanceof RpcRefusedError;
    return isServerError
      ? new TransportError(`HTTP ${status}`, { ...at, sizeMayExplain: true })
      : error;
  }
  return undefined;
}

/** The place of the call with this id. Ids are consecutive numbers; some nodes return them as text. */
function indexOf(id: unknown, calls: readonly WireCall[]): number | undefined {
  const number = typeof id === 'string' && /^\d{1,15}$/.test(id) ? Number(id) : id;
  const index = typeof number === 'number' ? number - (calls[0]?.id ?? 0) : -1;
  return calls[index] === undefined ? undefined : index;
}

/** The body if it is a JSON-RPC error or a list of answers, which may come with any status; undefined for others. */
function rpcAnswerIn(bytes: Buffer): unknown {
  try {
    const body = parseJsonBody(bytes);
    const isList = Array.isArray(body) && body.length > 0 && body.every(isAnswer);
    return isList || isRpcError(body) ? body : undefined;
  } catch {
    return undefined;
  }
}

function isAnswer(body: unknown): boolean {
  return isRpcError(body) || (isRecord(body) && body['result'] !== undefined);
}

function isRpcError(body: unknown): boolean {
  const error = isRecord(body) ? body['error'] : undefined;
  return (
    isRecord(error) && typeof error['code'] === 'number' && typeof error['message'] === 'string'
  );
}

function networkReason(error: unknown, secrets: readonly string[]): string {
  const reasons: string[] = [];
  let inner: unknown = error;
  for (let depth = 0; depth < 5 && isRecord(inner); depth++) {
    const { code, message, cause } = inner;
    reasons.push(
      [code, message].filter((part) => typeof part === 'string' && part !== '').join(' '),
    );
    inner = cause;
  }
  return redact(reasons.join(': ') || 'no connection', secrets);
}

/** Some proxies leave out the end of a coding; the end of the JSON shows whether the body is whole. */
const MAY_END_EARLY = { finishFlush: constants.Z_SYNC_FLUSH };
const gunzip = (): Duplex => createGunzip(MAY_END_EARLY);

const DECODERS: ReadonlyMap<string, () => Duplex> = new Map<string, () => Duplex>([
  ['gzip', gunzip],
  ['x-gzip', gunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/**
 * Decompresses a body. Codings are listed in the order in which they were applied, in either case (RFC 9110, 8.4). A body
 * in a coding that was not requested stays as it is, and fails as invalid JSON.
 */
function decoded(
  body: AsyncIterable<Buffer>,
  encoding: string | string[] | undefined,
): AsyncIterable<Buffer> {
  const codings = [encoding ?? []]
    .flat()
    .flatMap((text) => text.toLowerCase().split(','))
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity');
  const decoders = codings.reverse().map((coding) => DECODERS.get(coding));
  // A decoder passes on the end and the errors of the body.
  return decoders.reduce<AsyncIterable<Buffer>>(
    (coded, decoder) => (decoder ? pipeline(coded, decoder(), () => undefined) : coded),
    body,
  );
}
