import { type RpcCall } from '../rpc/rpc-call.js';
import { isRecord, quantity } from '../shape/hex.js';
import {
  ANSWER_TOO_LARGE,
  BATCH_TOO_LARGE,
  BLOCK_OUT_OF_RANGE,
  INTERNAL_ERROR,
  NODE_BEHIND,
  RANGE_FOR_CERTAIN,
  RANGE_INVALID,
  RANGE_TOO_LARGE,
  RATE_LIMIT_CODES,
  RATE_LIMITED,
  REVERTED,
  STATE_UNAVAILABLE,
  TIMED_OUT,
  UNAVAILABLE,
} from './known-messages.js';
import { proposedTo } from './proposed-range.js';
import { redact } from './redact.js';
import {
  BatchTooLargeError,
  ExecutionRevertedError,
  NodeBehindError,
  RangeTooLargeError,
  RateLimitedError,
  RpcRefusedError,
  RpcTimeoutError,
  StateUnavailableError,
  TransportError,
  type RpcError,
} from './rpc.errors.js';

export interface RpcErrorContext {
  readonly endpoint: string;
  /** Parts of the URL that must not appear in a message. */
  readonly secrets: readonly string[];
  /** What the error answers; for an error of a whole batch its first call. */
  readonly call: RpcCall;
  /** From the HTTP header, where there was one. */
  readonly retryAfterMs?: number | undefined;
}

/** Methods whose answers grow with the range. */
export function growsWithRange(method: string): boolean {
  return method === 'eth_getLogs' || method === 'eth_getBlockReceipts';
}

/** Turns the error object of a JSON-RPC answer into the class that decides what happens next. */
export function classifyRpcError(
  error: unknown,
  context: RpcErrorContext,
): RpcError | ExecutionRevertedError {
  const { code, message, data } = partsOf(error);
  const details = textOf(data);
  const text = `${message} ${details}`.toLowerCase().slice(0, 2000);
  const says = (list: readonly string[]): boolean => list.some((part) => text.includes(part));
  const grows = growsWithRange(context.call.method);
  const what = `${context.call.method} failed: ${redact(message || details, context.secrets)}${code === undefined ? '' : ` (${code})`}`;
  const options = { endpoint: context.endpoint };

  if (says(STATE_UNAVAILABLE) || isPrunedHeight(text))
    return new StateUnavailableError(what, options);
  if (says(NODE_BEHIND)) return new NodeBehindError(what, options);
  if (ANSWER_TOO_LARGE.test(text)) return rangeTooLarge(text, what, data, context);
  const mayBeRange = grows && !RANGE_INVALID.test(text);
  if (mayBeRange && RANGE_FOR_CERTAIN.test(text)) return rangeTooLarge(text, what, data, context);
  if (code === -32010 || says(BATCH_TOO_LARGE)) {
    return new BatchTooLargeError(what, { ...options, limit: batchLimit(text) });
  }
  if (RATE_LIMIT_CODES.includes(code) || says(RATE_LIMITED)) {
    return rateLimited(what, data, context);
  }
  if (mayBeRange && RANGE_TOO_LARGE.test(text)) return rangeTooLarge(text, what, data, context);
  if (says(TIMED_OUT)) return new RpcTimeoutError(what, options);
  if (code === 3 || says(REVERTED)) return new ExecutionRevertedError(what, options);
  if (code === -32005 || code === -32001) {
    // "Limit exceeded" says nothing of which; only who asks to wait means the rate.
    const limited = rateLimited(what, data, context);
    const isRange = grows && code === -32005 && limited.retryAfterMs === undefined;
    return isRange ? new RangeTooLargeError(what, options) : limited;
  }
  if (says(UNAVAILABLE) || INTERNAL_ERROR.test(text)) {
    return new TransportError(what, { ...options, sizeMayExplain: grows });
  }
  const sizeMayExplain = mayBeRange && code !== -32601;
  return new RpcRefusedError(what, { ...options, rpcCode: code, sizeMayExplain });
}

/** A height that the node has, and yet not its state. */
function isPrunedHeight(text: string): boolean {
  const [, height, requested] = BLOCK_OUT_OF_RANGE.exec(text) ?? [];
  return height !== undefined && requested !== undefined && BigInt(requested) <= BigInt(height);
}

function partsOf(error: unknown): { code: number | undefined; message: string; data: unknown } {
  if (!isRecord(error)) {
    return {
      code: undefined,
      message: typeof error === 'string' ? error : 'no reason given',
      data: undefined,
    };
  }
  const { code, message, data } = error;
  return {
    code: typeof code === 'number' ? code : undefined,
    message: typeof message === 'string' ? message : '',
    data,
  };
}

function textOf(data: unknown): string {
  if (typeof data === 'string') return data;
  return isRecord(data) ? JSON.stringify(data) : '';
}

function rateLimited(what: string, data: unknown, context: RpcErrorContext): RateLimitedError {
  const backoff = isRecord(data) ? nested(data, 'backoff_seconds') : undefined;
  const retryAfterMs =
    context.retryAfterMs ?? (typeof backoff === 'number' ? Math.max(0, backoff * 1000) : undefined);
  return new RateLimitedError(what, { endpoint: context.endpoint, retryAfterMs });
}

/** Infura puts its advice beside `see` or into `rate`. */
function nested(data: Record<string, unknown>, name: string): unknown {
  const rate = data['rate'];
  return data[name] ?? (isRecord(rate) ? rate[name] : undefined);
}

function batchLimit(text: string): number | undefined {
  const match =
    /(?:batch limit|max limit of|more than|exceeds?|limit(?: is)?|max(?:imum)?(?: is| of)?) ?:? ?(\d{1,6})/.exec(
      text,
    );
  const limit = Number(match?.[1]);
  return limit >= 1 ? limit : undefined;
}

function rangeTooLarge(
  text: string,
  what: string,
  data: unknown,
  { endpoint, call }: RpcErrorContext,
): RangeTooLargeError {
  const filter = call.params[0];
  const { fromBlock, toBlock } = isRecord(filter) ? filter : {};
  // Not a tag, as in a question for all up to the newest block.
  const [from, to] = [quantity(fromBlock), quantity(toBlock)];
  const asked =
    from === undefined || to === undefined ? undefined : { from: BigInt(from), to: BigInt(to) };
  return new RangeTooLargeError(what, {
    endpoint,
    proposedTo: asked && proposedTo(text, data, asked),
  });
}
