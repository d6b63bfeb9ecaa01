/**
 * What can go wrong between us and a node. Policy follows from the class: the pool asks another endpoint, the caller narrows
 * the range, or the process stops. No message holds a URL or a credential: endpoints are named by host and ordinal.
 */
import { PermanentError, RetryableError } from '#libs/domain';

interface RpcErrorOptions {
  readonly endpoint: string;
  readonly cause?: Error | undefined;
  /** A smaller request might have succeeded: a cut body, a 5xx, an error without a known meaning. */
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

/** The range holds too many blocks, logs or bytes for this endpoint, or took too long: ask for fewer blocks. */
export class RangeTooLargeError extends RpcError {
  /** The last block of the range that the node proposed: inside the asked range and below its end, otherwise left out. */
  readonly proposedTo: bigint | undefined;

  constructor(
    what: string,
    options: RpcErrorOptions & { readonly proposedTo?: bigint | undefined },
  ) {
    super('RPC_RANGE_TOO_LARGE', what, options);
    this.proposedTo = options.proposedTo;
  }

  /** How many blocks the node proposed. @param from the first block of the range that it refused */
  proposedBlocks(from: bigint): number | undefined {
    return this.proposedTo === undefined ? undefined : Number(this.proposedTo - from) + 1;
  }
}

export class RateLimitedError extends RpcError {
  readonly retryAfterMs: number | undefined;

  constructor(
    what: string,
    options: RpcErrorOptions & { readonly retryAfterMs?: number | undefined },
  ) {
    super('RPC_RATE_LIMITED', what, options);
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** The node does not have a block that we know exists, or exists on another node. */
export class NodeBehindError extends RpcError {
  constructor(what: string, options: RpcErrorOptions) {
    super('RPC_NODE_BEHIND', what, options);
  }
}

/** What the endpoint says of its final block cannot be true: another endpoint may be asked, this one not again for the same question. */
export class FinalBlockRefusedError extends RpcError {
  constructor(what: string, options: RpcErrorOptions) {
    super('RPC_FINAL_BLOCK_REFUSED', what, options);
  }
}

/** The node knows the block and has thrown its state or history away. */
export class StateUnavailableError extends RpcError {
  constructor(what: string, options: RpcErrorOptions) {
    super('RPC_STATE_UNAVAILABLE', what, options);
  }
}

/** Not JSON, not the shape of the protocol, or parts that contradict each other. */
export class MalformedAnswerError extends RpcError {
  constructor(what: string, options: RpcErrorOptions) {
    super('RPC_MALFORMED_ANSWER', what, options);
  }
}

/** No answer: refused, reset, DNS, TLS, 5xx, or a node that says of itself that it cannot answer now. */
export class TransportError extends RpcError {
  constructor(what: string, options: RpcErrorOptions, code = 'RPC_TRANSPORT') {
    super(code, what, options);
  }
}

/** Nothing was reached at all: refused, unknown host, no route, no TLS. No request of another size would do better. */
export class UnreachableError extends TransportError {}

/** HTTP 503: too busy, mostly whatever is asked; now and then because of what was asked. */
export class OverloadedError extends TransportError {}

/** No whole answer within the deadline, the body included, or the node gave up itself. */
export class RpcTimeoutError extends TransportError {
  constructor(what: string, options: RpcErrorOptions) {
    super(what, { ...options, sizeMayExplain: true }, 'RPC_TIMEOUT');
  }
}

/** The node answered that a block has no logs of ours, or fewer than it has. */
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

/** Whether the same request may well be answered if it is sent again. */
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

/** The failure that a smaller range may cure, of one endpoint or of any; undefined where there is none. */
export function sizeFailureIn(error: unknown): RpcError | undefined {
  if (error instanceof RangeTooLargeError) return error;
  return error instanceof AllEndpointsFailedError
    ? error.failures.find(({ sizeMayExplain }) => sizeMayExplain)
    : undefined;
}

/** Two endpoints differ about a final block: one of them is wrong, and nothing that rests on either is done. */
export class EndpointsDisagreeError extends RetryableError {
  constructor(message: string) {
    super('RPC_ENDPOINTS_DISAGREE', message);
  }
}

/** Whether endpoints gave no answer at all, rather than one that cannot be: it is not what they said that keeps a question open. */
export function isOutage(error: unknown): error is AllEndpointsFailedError {
  const isSilent = (failure: RpcError): boolean =>
    failure instanceof TransportError ||
    failure instanceof RateLimitedError ||
    failure instanceof RpcRefusedError;
  return (
    error instanceof AllEndpointsFailedError && [...error.failures, ...error.aside].every(isSilent)
  );
}

/** Undefined where every endpoint that may be asked failed. */
export async function unlessAllFail<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof AllEndpointsFailedError) return undefined;
    throw error;
  }
}

/** Undefined where endpoints gave no answer at all. */
export async function unlessOut<T>(asked: Promise<T>): Promise<T | undefined> {
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

/** Endpoints of different chains, or of another chain than CHAIN_ID. */
export class ChainMismatchError extends PermanentError {
  constructor(endpoint: string, expected: number, actual: number) {
    super(
      'RPC_CHAIN_MISMATCH',
      `${endpoint} serves chain ${actual}, but CHAIN_ID is ${expected}. Correct RPC_URLS or CHAIN_ID.`,
    );
  }
}
