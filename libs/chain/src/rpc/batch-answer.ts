import { classifyRpcError } from '../errors/classify-rpc-error.js';
import {
  BatchTooLargeError,
  MalformedAnswerError,
  RpcRefusedError,
  TransportError,
} from '../errors/rpc.errors.js';
import { isRecord } from '../shape/hex.js';
import { type HttpAnswer, type WireCall } from './http-exchange.js';
import { type RpcResult } from './rpc-call.js';

export interface BatchContext {
  readonly endpoint: string;
  readonly secrets: readonly string[];
}

/**
 * Matches the answers of a batch to its calls by their ids; nodes may answer in any order.
 * @returns one result for each call, in the order of the calls
 * @throws the error of the whole batch where the node answered with one; MalformedAnswerError where an answer is missing,
 *   doubled, unasked for, or has neither result nor error
 */
export function matchAnswers(
  calls: readonly WireCall[],
  answer: HttpAnswer,
  context: BatchContext,
): RpcResult[] {
  const { endpoint } = context;
  const first = calls[0];
  if (!first) return [];
  if (!Array.isArray(answer.body)) throw wholeBatchError(answer, first, context);
  const results = new Array<RpcResult | undefined>(calls.length).fill(undefined);
  let failed: RpcResult | undefined;
  for (const entry of answer.body as unknown[]) {
    if (!isRecord(entry)) throw malformed('an answer of the batch is not an object', endpoint);
    const result = resultOf(entry, calls, answer, context);
    if (!result.ok && !failed) failed = result;
    const index = indexOf(entry['id'], first.id);
    // An error about the batch itself has no id, or null.
    if (entry['id'] === null && !result.ok) throw result.error;
    if (index === undefined || index >= calls.length) {
      throw malformed('the batch holds an answer to nothing we asked', endpoint);
    }
    if (results[index]) throw malformed('the batch answers one call twice', endpoint);
    results[index] = result;
  }
  if (failed && !failed.ok && failed.error instanceof BatchTooLargeError) throw failed.error;
  return results.map((result) => {
    if (result) return result;
    // A node that gives up in the middle says why in the last answer it gives.
    if (failed && !failed.ok) throw failed.error;
    throw malformed('the batch lacks an answer', endpoint);
  });
}

function resultOf(
  entry: Record<string, unknown>,
  calls: readonly WireCall[],
  answer: HttpAnswer,
  context: BatchContext,
): RpcResult {
  const first = calls[0] as WireCall;
  if (entry['error'] !== undefined && entry['error'] !== null) {
    const call = calls[indexOf(entry['id'], first.id) ?? 0] ?? first;
    const { retryAfterMs } = answer;
    return {
      ok: false,
      error: classifyRpcError(entry['error'], { ...context, call, retryAfterMs }),
    };
  }
  if (entry['result'] === undefined) {
    throw malformed('an answer has neither result nor error', context.endpoint);
  }
  return { ok: true, value: entry['result'] };
}

function wholeBatchError(answer: HttpAnswer, first: WireCall, context: BatchContext): Error {
  const { body, status, retryAfterMs } = answer;
  if (isRecord(body) && body['error'] !== undefined && body['error'] !== null) {
    const error = classifyRpcError(body['error'], { ...context, call: first, retryAfterMs });
    // Whatever an error without a known meaning says, with a 5xx it is one of the server.
    const isServerError = status >= 500 && error instanceof RpcRefusedError;
    return isServerError
      ? new TransportError(`HTTP ${status}`, { endpoint: context.endpoint, sizeMayExplain: true })
      : error;
  }
  return malformed('a batch was not answered with a list', context.endpoint);
}

/** Ids are consecutive numbers; some nodes send them back as text. */
function indexOf(id: unknown, firstId: number): number | undefined {
  const number = typeof id === 'string' && /^\d{1,15}$/.test(id) ? Number(id) : id;
  if (typeof number !== 'number' || !Number.isInteger(number) || number < firstId) return undefined;
  return number - firstId;
}

function malformed(what: string, endpoint: string): MalformedAnswerError {
  return new MalformedAnswerError(what, { endpoint });
}
