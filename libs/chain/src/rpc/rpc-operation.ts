/**
 * The patience of one question, which is one operation with all its requests and retries. Decides which endpoints the
 * question may still ask, whether a failed request is sent again to the same endpoint, and how long all waits together
 * may take. Without patience nothing is waited for; with infinite patience only the signal ends the question.
 */
import { growsWithRange } from '../errors/classify-rpc-error.js';
import {
  AllEndpointsFailedError,
  AnswersDifferError,
  EndpointLeftOutError,
  isInvalidAnswer,
  isTransient,
  LogsWithheldError,
  MalformedAnswerError,
  NodeBehindError,
  OverloadedError,
  RateLimitedError,
  type RpcError,
  RpcTimeoutError,
  SizeRefusedError,
} from '../errors/rpc.errors.js';
import { fastest } from './endpoint-health.js';
import {
  isClosed,
  isRefusedByStatus,
  type PoolContext,
  type RequestFailure,
  type RequestGuard,
  type RpcEndpoint,
} from './rpc-endpoint.js';

interface QuestionOptions {
  /** In order of preference. */
  readonly endpoints: readonly RpcEndpoint[];
  /** The only endpoint is asked even while it is set aside. */
  readonly regardless: boolean;
  readonly patienceMs: number;
  readonly signal: AbortSignal;
  /**
   * Called with each invalid answer to a request that begins with this method.
   * @throws EndpointLeftOutError where the endpoint is left out from now on
   */
  readonly notValid: (endpoint: RpcEndpoint, method: string, error: RpcError) => void;
}

/** Attempts at one endpoint before another healthy endpoint is asked. */
const TRIES_IN_PLACE = 2;
/** Longest wait for one endpoint while another endpoint is healthy. */
const LONGEST_WAIT_IN_PLACE_MS = 2_000;
/** Divides the first wait where failures are rare. */
const LUCK_DIVISOR = 25;
/** A batch of this many calls is not retried early, because a provider with a budget would refuse it again. */
const LARGE_BATCH = 20;
const LONGEST_BACKOFF_MS = 15_000;
/** Failures in a row that the size of the request may explain. */
const SIZE_FAILURES = 3;
/** How often a node that is behind, or contradicts itself, is asked again. */
const QUICK_RETRIES = 3;
const LONGEST_QUICK_RETRY_MS = 2_000;

export class RpcOperation {
  private readonly failures = new Map<RpcEndpoint, RpcError>();
  /** Endpoints whose answer a wait does not change. */
  private readonly done = new Set<RpcEndpoint>();
  /** Failures upon which the question moved on to another endpoint. */
  private readonly moved = new WeakSet<RpcError>();
  /** Failures that the size may explain, by endpoint and first call. */
  private readonly sizeFailures = new Map<string, number>();
  private readonly quickRetries = new Map<RpcEndpoint, number>();
  private hasMoved = false;
  /** Time of the first failure. An answer resets it, as long as the question stays with one endpoint. */
  private firstFailureMs: number | undefined;
  private isOver = false;
  /**
   * The only endpoint that may be asked while it is set aside: once more when patience is over, or where only
   * distrusted endpoints are left.
   */
  private allowedWhileAside: RpcEndpoint | undefined;

  constructor(
    private readonly context: PoolContext,
    private readonly options: QuestionOptions,
  ) {}

  /** @throws AllEndpointsFailedError where no endpoint is left */
  next(): RpcEndpoint {
    const { endpoints } = this.options;
    const left = endpoints.filter((endpoint) => !this.done.has(endpoint));
    if (this.isOver) {
      const untried = left.find((one) => !this.failures.has(one) && !one.health.isHeld(this.nowMs));
      if (!untried || this.failures.size === 0) throw this.allFailed();
      this.allowedWhileAside = untried;
      return untried;
    }
    const ready = left.filter((endpoint) => this.isReady(endpoint));
    const chosen = fastest(ready, this.nowMs) ?? this.distrusted(left) ?? this.firstBack(left);
    if (!chosen) throw this.allFailed();
    return chosen;
  }

  /** The decisions for the requests to an endpoint, before they are sent and when they fail. */
  guard(endpoint: RpcEndpoint): RequestGuard {
    return {
      signal: this.options.signal,
      mayAsk: () => this.isReady(endpoint),
      ready: (signal) => this.ready(endpoint, signal),
      answered: () => {
        // After a move the patience is not renewed, because the question could move to and fro for ever.
        if (!this.hasMoved) this.firstFailureMs = undefined;
      },
      failed: (failure, signal) => this.failed(endpoint, failure, signal),
    };
  }

  /**
   * The operation ended with an error of this endpoint, of a request or of the check of its answers. Resolves when
   * another endpoint, or the same one, is to be asked.
   */
  async operationFailed(endpoint: RpcEndpoint, error: RpcError): Promise<void> {
    this.note(endpoint, error);
    this.hasMoved = true;
    if (error instanceof EndpointLeftOutError) this.done.add(endpoint);
    if (this.isOver || this.moved.has(error) || this.done.has(endpoint)) return;
    const isQuick =
      error instanceof NodeBehindError ||
      error instanceof MalformedAnswerError ||
      error instanceof AnswersDifferError;
    const retries = (this.quickRetries.get(endpoint) ?? 0) + 1;
    this.quickRetries.set(endpoint, retries);
    const others = this.options.endpoints.length > 1;
    if (isQuick || (error instanceof LogsWithheldError && others)) {
      endpoint.health.failed(error, this.nowMs);
    }
    if (!isQuick || retries > QUICK_RETRIES) this.done.add(endpoint);
    else if (!this.hasOther(endpoint)) {
      const waitMs = Math.min(LONGEST_QUICK_RETRY_MS, this.backoffMs(retries));
      if (this.reaches(waitMs)) await this.pause(endpoint, waitMs, this.options.signal);
    }
  }

  giveUp(endpoint: RpcEndpoint): void {
    this.done.add(endpoint);
  }

  allFailed(): AllEndpointsFailedError {
    const { endpoints } = this.options;
    const waits = endpoints.map((endpoint) => endpoint.backoffMs(this.nowMs));
    const retryAfterMs = Math.min(this.context.backoff.longestMs, ...waits);
    const aside = endpoints.flatMap((endpoint) => {
      const isAside = !this.failures.has(endpoint) && endpoint.backoffMs(this.nowMs) > 0;
      return isAside ? (endpoint.backoffReason ?? []) : [];
    });
    return new AllEndpointsFailedError([...this.failures.values()], retryAfterMs, aside);
  }

  private async ready(endpoint: RpcEndpoint, signal: AbortSignal): Promise<void> {
    while (!this.isReady(endpoint)) {
      const error = endpoint.lastFailure;
      if (error && this.hasOther(endpoint)) {
        this.moved.add(error);
        throw error;
      }
      const waitMs = endpoint.backoffMs(this.nowMs);
      if (this.reaches(waitMs)) await this.pause(endpoint, waitMs, signal);
      else if (this.failures.size === 0 || endpoint.health.isHeld(this.nowMs))
        throw this.allFailed();
      else this.allowedWhileAside = endpoint;
    }
  }

  private async failed(
    endpoint: RpcEndpoint,
    failure: RequestFailure,
    signal: AbortSignal,
  ): Promise<void> {
    const { error, attempt, calls } = failure;
    this.note(endpoint, error);
    if (isInvalidAnswer(error)) this.options.notValid(endpoint, calls[0]?.method ?? '', error);
    const isOnceMore = isRefusedByStatus(error) && attempt === 1;
    if (!isTransient(error) && !isOnceMore) throw error;
    if (await this.isSizeTheCause(endpoint, failure, signal)) {
      this.done.add(endpoint);
      throw new SizeRefusedError(error);
    }
    const askedMs = error instanceof RateLimitedError ? (error.retryAfterMs ?? 0) : 0;
    const isSmall = failure.calls.length < LARGE_BATCH;
    const isLuck = attempt === 1 && isSmall && endpoint.delivery.failsRarely;
    const ownMs = askedMs > 0 ? askedMs : this.backoffMs(attempt) / (isLuck ? LUCK_DIVISOR : 1);
    const waitMs = Math.max(ownMs, endpoint.backoffMs(this.nowMs));
    if (this.hasOther(endpoint)) {
      const atOnce = isClosed(error) || error instanceof RpcTimeoutError;
      if (atOnce || attempt >= TRIES_IN_PLACE || waitMs > LONGEST_WAIT_IN_PLACE_MS) {
        endpoint.health.failed(error, this.nowMs);
        this.moved.add(error);
        throw error;
      }
    }
    if (!this.reaches(waitMs)) throw error;
    await this.pause(endpoint, waitMs, signal);
  }

  /**
   * Whether the size of the range is the cause, whatever the failure says: the same range failed repeatedly, while the
   * endpoint answers a request without a range.
   */
  private async isSizeTheCause(
    endpoint: RpcEndpoint,
    { error, calls }: RequestFailure,
    signal: AbortSignal,
  ): Promise<boolean> {
    const isLimit = error instanceof RateLimitedError;
    if (!(error.sizeMayExplain || isLimit) || !growsWithRange(calls[0]?.method ?? '')) return false;
    const key = `${endpoint.name} ${JSON.stringify(calls[0])}`;
    // A 503 or a rate limit counts half, because three in a row happen by chance where one request in twenty gets one.
    const isByChance = error instanceof OverloadedError || (isLimit && !error.isVague);
    const weight = isByChance ? 0.5 : 1;
    const count = (this.sizeFailures.get(key) ?? 0) + weight;
    this.sizeFailures.set(key, count);
    return count % SIZE_FAILURES === 0 && (await endpoint.isAlive(signal));
  }

  /** Whether patience allows the wait; where it does not, patience is over. */
  private reaches(waitMs: number): boolean {
    this.firstFailureMs ??= this.nowMs;
    const leftMs = this.options.patienceMs - (this.nowMs - this.firstFailureMs);
    this.isOver ||= leftMs <= 0 || waitMs > leftMs;
    return !this.isOver;
  }

  private async pause(endpoint: RpcEndpoint, waitMs: number, signal: AbortSignal): Promise<void> {
    const fromMs = this.nowMs;
    const forMs = fromMs - (this.firstFailureMs ?? fromMs);
    if (endpoint.backoffMs(fromMs) > 0 || forMs > LONGEST_WAIT_IN_PLACE_MS) {
      const message = endpoint.lastFailure?.message ?? `${endpoint.name} does not answer`;
      this.context.observer.waiting?.({ endpoint: endpoint.name, message, waitMs, forMs });
    }
    await this.context.time.sleep(waitMs, signal);
  }

  note(endpoint: RpcEndpoint, error: RpcError): void {
    this.failures.set(endpoint, error);
  }

  private isReady(endpoint: RpcEndpoint): boolean {
    if (this.options.regardless || this.allowedWhileAside === endpoint) return true;
    return endpoint.backoffMs(this.nowMs) === 0;
  }

  private hasOther(endpoint: RpcEndpoint): boolean {
    return this.options.endpoints.some(
      (other) => other !== endpoint && !this.done.has(other) && this.isReady(other),
    );
  }

  /**
   * An endpoint that left out logs is better than none, because its answers are checked against another source in any
   * case.
   */
  private distrusted(endpoints: readonly RpcEndpoint[]): RpcEndpoint | undefined {
    this.allowedWhileAside = endpoints.find(({ health }) => health.isDistrusted(this.nowMs));
    return this.allowedWhileAside;
  }

  private firstBack(endpoints: readonly RpcEndpoint[]): RpcEndpoint | undefined {
    const aside = (endpoint: RpcEndpoint): number => endpoint.backoffMs(this.nowMs);
    return [...endpoints].sort((a, b) => aside(a) - aside(b))[0];
  }

  /** Doubles with each attempt; jitter shortens the result by up to half. */
  private backoffMs(attempt: number): number {
    const { backoff, random } = this.context;
    const longest = Math.min(LONGEST_BACKOFF_MS, backoff.longestMs);
    const full = Math.min(longest, backoff.firstMs * 2 ** Math.min(30, attempt - 1));
    return full * (1 - random() / 2);
  }

  private get nowMs(): number {
    return this.context.time.nowMs();
  }
}
