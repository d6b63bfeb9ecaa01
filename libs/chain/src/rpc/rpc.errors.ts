/**
 * The errors between us and a node. The class decides what follows: the question asks again or elsewhere
 * (rpc/reactions.ts), the caller narrows the range, or the process stops. No message contains a URL or a credential:
 * endpoints are named by host and place in the list.
 */
import { PermanentError, RetryableError } from '#libs/domain';

interface RpcErrorOptions {
  readonly endpoint: string;
  readonly cause?: Error | undefined;
  /** Whether a smaller request might have succeeded: after a cut body, a 5xx, or an error without a known meaning. */
  readonly sizeMayExplain?: boolean;
  readonly httpStatus?: number | undefined;
}

export abstract class RpcError extends RetryableError {
  readonly endpoint: string;
  readonly sizeMayExplain: boolean;
  readonly httpStatus: number | undefined;

  constructor(code: string, what: string, options: RpcErrorOptions) {
    super(code, `${options.endpoint}: ${what}`, options.cause ? { cause: options.cause } : {});
    this.endpoint = options.endpoint;
    this.sizeMayExplain = options.sizeMayExplain ?? false;
    this.httpStatus = options.httpStatus;
  }
}

/**
 * The range holds too many blocks, logs or bytes for this endpoint, or took too long. The caller asks for fewer blocks.
 */
export class RangeTooLargeError extends RpcError {
  /**
   * The last block of the range that the node proposed; undefined unless the block is inside the requested range and
   * below its end.
   */
  readonly proposedTo: bigint | undefined;

  constructor(
    what: string,
    options: RpcErrorOptions & { readonly proposedTo?: bigint | undefined },
  ) {
    super('RPC_RANGE_TOO_LARGE', what, options);
    this.proposedTo = options.proposedTo;
  }

  /** How many blocks the node proposed. @param from the first block of the refused range */
  proposedBlocks(from: bigint): number | undefined {
    return this.proposedTo === undefined ? undefined : Number(this.proposedTo - from) + 1;
  }
}

export class RateLimitedError extends RpcError {
  readonly retryAfterMs: number | undefined;
  /** The refusal names no rate, so that a limit of another kind may be meant. */
  readonly isVague: boolean;

  constructor(
    what: string,
    options: RpcErrorOptions & {
      readonly retryAfterMs?: number | undefined;
      readonly isVague?: boolean;
    },
  ) {
    super('RPC_RATE_LIMITED', what, options);
    this.retryAfterMs = options.retryAfterMs;
    this.isVague = options.isVague ?? false;
  }
}

/** The node does not have a block that is known to exist, or exists on another node. */
export class NodeBehindError extends RpcError {
  constructor(what: string, options: RpcErrorOptions) {
    super('RPC_NODE_BEHIND', what, options);
  }
}

/** The node answers null for the header of this block. */
export class BlockMissingError extends NodeBehindError {
  constructor(number: bigint, options: RpcErrorOptions) {
    super(`does not have block ${number.toString()}`, options);
  }
}

/** The node has no block for a tag such as `finalized`. */
export class TagUnknownError extends NodeBehindError {}

/**
 * The endpoint's statement about its final block cannot be true. Another endpoint may be asked; this one is not asked
 * again for the same question.
 */
export class FinalBlockRefusedError extends RpcError {
  constructor(what: string, options: RpcErrorOptions) {
    super('RPC_FINAL_BLOCK_REFUSED', what, options);
  }
}

/** The node knows the block, and no longer has its state or history. */
export class StateUnavailableError extends RpcError {
  constructor(what: string, options: RpcErrorOptions) {
    super('RPC_STATE_UNAVAILABLE', what, options);
  }
}

/** The answer is not JSON, does not have the form of the protocol, or contradicts itself. */
export class MalformedAnswerError extends RpcError {
  constructor(what: string, options: RpcErrorOptions) {
    super('RPC_MALFORMED_ANSWER', what, options);
  }
}

/** The answer is valid by itself, and contradicts that of another endpoint. Either may be wrong. */
export class AnswersDifferError extends RpcError {
  constructor(what: string, options: RpcErrorOptions) {
    super('RPC_ANSWERS_DIFFER', what, options);
  }
}

/** No answer: connection refused or reset, DNS, TLS, 5xx, or a node that reports that it cannot answer now. */
export class TransportError extends RpcError {
  constructor(what: string, options: RpcErrorOptions, code = 'RPC_TRANSPORT') {
    super(code, what, options);
  }
}

/**
 * Nothing was reached: connection refused, unknown host, no route, no TLS. A request of another size would fail as
 * well.
 */
export class UnreachableError extends TransportError {}

/** HTTP 503: the endpoint is too busy, mostly for any request, now and then because of this one. */
export class OverloadedError extends TransportError {}

/** A failure that repeats for the same range while the endpoint answers a small request: the range is too large for it. */
export class SizeRefusedError extends TransportError {
  constructor(cause: RpcError) {
    const { endpoint, httpStatus } = cause;
    const what = cause.message.replace(`${endpoint}: `, '');
    super(what, { endpoint, httpStatus, cause, sizeMayExplain: true }, cause.code);
  }
}

/** The endpoint is left out, because none of its latest answers of this kind was valid. */
export class EndpointLeftOutError extends TransportError {
  constructor(method: string, cause: RpcError) {
    const { endpoint } = cause;
    const what = `left out, as its answers to ${method} are not valid: ${cause.message.replace(`${endpoint}: `, '')}`;
    super(what, { endpoint, cause }, 'RPC_ENDPOINT_LEFT_OUT');
  }
}

/** The node has a block and not its logs: as if it were not there for this block. */
export class LogsPrunedError extends TransportError {
  constructor(block: bigint, options: RpcErrorOptions) {
    const what = `has no logs of block ${block.toString()}, although its own header shows that there are some, nor the receipts: it has pruned them`;
    super(what, options, 'RPC_LOGS_PRUNED');
  }
}

/** No complete answer within the timeout, or the node itself gave up. */
export class RpcTimeoutError extends TransportError {
  constructor(what: string, options: RpcErrorOptions) {
    super(what, { ...options, sizeMayExplain: true }, 'RPC_TIMEOUT');
  }
}

/** The node answered that a block has no logs of ours, or fewer than the block has. */
export class LogsWithheldError extends RpcError {
  readonly blockNumber: bigint;

  constructor(blockNumber: bigint, options: RpcErrorOptions) {
    super('RPC_LOGS_WITHHELD', `left out logs of block ${blockNumber.toString()}`, options);
    this.blockNumber = blockNumber;
  }
}

export class BatchTooLargeError extends RpcError {
  readonly limit: number | undefined;

  constructor(what: string, options: RpcErrorOptions & { readonly limit?: number | undefined }) {
    super('RPC_BATCH_TOO_LARGE', what, options);
    this.limit = options.limit;
  }
}

/** An error of the node without a more exact class: an unknown method, refused credentials, an internal error. */
export class RpcRefusedError extends RpcError {
  /** The JSON-RPC code or the HTTP status. */
  readonly rpcCode: number | undefined;

  constructor(what: string, options: RpcErrorOptions & { readonly rpcCode?: number | undefined }) {
    super('RPC_REFUSED', what, options);
    this.rpcCode = options.rpcCode;
  }
}

/**
 * Whether the answer is invalid by itself, whatever other endpoints answer: only the endpoint that gave it is wrong.
 */
export function isInvalidAnswer(error: unknown): error is RpcError {
  return error instanceof MalformedAnswerError || error instanceof TagUnknownError;
}

/** Whether a retry of the same request may well succeed. */
export function isTransient(error: unknown): boolean {
  return (
    error instanceof RateLimitedError ||
    error instanceof TransportError ||
    error instanceof MalformedAnswerError ||
    (error instanceof RpcRefusedError && error.sizeMayExplain)
  );
}

/** Every endpoint that may be asked failed, or none may be asked before `retryAfterMs` has passed. */
export class AllEndpointsFailedError extends RetryableError {
  readonly failures: readonly RpcError[];
  /** Why endpoints that were not asked are set aside. */
  readonly aside: readonly RpcError[];
  readonly retryAfterMs: number;

  constructor(
    failures: readonly RpcError[],
    retryAfterMs: number,
    aside: readonly RpcError[] = [],
  ) {
    const last = failures.at(-1);
    super(
      'RPC_ALL_ENDPOINTS_FAILED',
      last
        ? `No endpoint could answer. ${failures.map((failure) => failure.message).join('; ')}`
        : `No endpoint may be asked for another ${Math.ceil(retryAfterMs / 1000)} s. ${aside.map(({ message }) => message).join('; ')}`.trim(),
      last ? { cause: last } : {},
    );
    this.failures = failures;
    this.aside = aside;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The failure, of any endpoint, that a smaller range may cure; undefined if there is none. */
export function sizeFailureIn(error: unknown): RpcError | undefined {
  if (error instanceof RangeTooLargeError) return error;
  return error instanceof AllEndpointsFailedError
    ? error.failures.find(({ sizeMayExplain }) => sizeMayExplain)
    : undefined;
}

/** Whether no endpoint gave a valid answer, and each gave one. */
export function isNeverValid(error: unknown): boolean {
  return (
    error instanceof AllEndpointsFailedError &&
    error.failures.length > 0 &&
    error.failures.every(isInvalidAnswer)
  );
}

/** Whether every endpoint answered, and lacks a block or gives another one in its place. */
export function isBlockMissing(error: unknown): boolean {
  const lacksBlock = (failure: RpcError): boolean =>
    failure instanceof NodeBehindError || failure instanceof MalformedAnswerError;
  return (
    error instanceof AllEndpointsFailedError &&
    error.failures.length > 0 &&
    error.failures.every(lacksBlock)
  );
}

/** Whether every endpoint answered, and none has what was asked for. */
export function isNothingThere(error: unknown): boolean {
  return (
    error instanceof AllEndpointsFailedError &&
    error.failures.length > 0 &&
    error.failures.every((failure) => failure instanceof StateUnavailableError)
  );
}

/** The refusal of an endpoint that is known to concern the size of a range. */
export function sizeRefusalIn(error: unknown): RpcError | undefined {
  return error instanceof AllEndpointsFailedError
    ? error.failures.find((failure) => failure instanceof SizeRefusedError)
    : undefined;
}

/** Whether an endpoint failed for what its own answers show, and was left out. */
export function isEndpointLeftOut(error: unknown): boolean {
  const isLeftOut = (failure: RpcError): boolean =>
    failure instanceof EndpointLeftOutError || failure instanceof LogsPrunedError;
  return error instanceof AllEndpointsFailedError && error.failures.some(isLeftOut);
}

/** Two endpoints differ about a final block. One of them is wrong, so nothing is done that rests on either. */
export class EndpointsDisagreeError extends RetryableError {
  constructor(message: string) {
    super('RPC_ENDPOINTS_DISAGREE', message);
  }
}

/**
 * Whether the endpoints gave no answer at all. False if an answer could not be true, or a block or its state was
 * missing.
 */
export function isOutage(error: unknown): error is AllEndpointsFailedError {
  const isSilent = (failure: RpcError): boolean =>
    failure instanceof TransportError ||
    failure instanceof RateLimitedError ||
    failure instanceof RpcRefusedError;
  return (
    error instanceof AllEndpointsFailedError && [...error.failures, ...error.aside].every(isSilent)
  );
}

export async function unlessAllFail<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof AllEndpointsFailedError) return undefined;
    throw error;
  }
}

/** Undefined if no endpoint gave a valid answer, and each gave one. */
export async function unlessNeverValid<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (isNeverValid(error)) return undefined;
    throw error;
  }
}

/** Undefined if the endpoints do not answer this question, for any reason. */
export async function unlessRpcFails<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof AllEndpointsFailedError || error instanceof RpcError) return undefined;
    throw error;
  }
}

/** Undefined if the endpoints gave no answer at all (`isOutage`). */
export async function unlessOutage<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (isOutage(error)) return undefined;
    throw error;
  }
}

export class ExecutionRevertedError extends PermanentError {
  readonly endpoint: string;

  constructor(what: string, options: RpcErrorOptions) {
    super('RPC_EXECUTION_REVERTED', `${options.endpoint}: ${what}`);
    this.endpoint = options.endpoint;
  }
}

export class ChainMismatchError extends PermanentError {
  constructor(endpoint: string, expected: number, actual: number) {
    super(
      'RPC_CHAIN_MISMATCH',
      `${endpoint} serves chain ${actual}, but CHAIN_ID is ${expected}. Correct RPC_URLS or CHAIN_ID.`,
    );
  }
}
