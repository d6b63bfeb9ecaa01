/**
 * One endpoint. It sends batches in requests of a size and at a rate that the endpoint accepts, and requests again only
 * what did not arrive. The question that a batch belongs to decides whether and after which wait to retry.
 */
import { inChildSpan, type OpenSpan } from '#libs/platform';
import {
  BatchTooLargeError,
  isTransient,
  RateLimitedError,
  RpcError,
  RpcRefusedError,
  UnreachableError,
} from '../errors/rpc.errors.js';
import { BatchResults, BatchSize, matchAnswers } from './batch.js';
import {
  AnswerValidity,
  type BackoffOptions,
  Delivery,
  EndpointHealth,
} from './endpoint-health.js';
import { type EndpointUrl } from './endpoint-urls.js';
import { HttpExchange, type PostBody, type WireCall } from './http-exchange.js';
import {
  type Budget,
  loadOf,
  type Outcome,
  outcomeOfAnswer,
  outcomeOfFailure,
  Rate,
} from './rate.js';
import { type PoolTime, RequestGate } from './request-gate.js';
import { type BatchAnswer, type RpcCall, type RpcResult } from './rpc-call.js';
import {
  callOutcomes,
  failureOf,
  outcomeOf,
  reasonOf,
  type RpcObserver,
  rpcSpan,
} from './rpc-observer.js';

/** What all endpoints of a pool, and the questions to them, share. */
export interface PoolContext {
  readonly post: PostBody;
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
  readonly time: PoolTime;
  readonly random: () => number;
  readonly backoff: BackoffOptions;
  readonly observer: RpcObserver;
}

/** A request that failed, or the calls of a request that failed, transiently or for good. */
export interface RequestFailure {
  readonly error: RpcError;
  readonly calls: readonly RpcCall[];
  /** How often these calls have failed in a row; 1 for the first failure. */
  readonly attempt: number;
}

/** The retry decisions of the question that a batch belongs to. */
export interface RequestGuard {
  readonly signal: AbortSignal;
  /** Resolves when the endpoint may be asked. @throws RpcError where the question does not wait for this */
  ready(signal: AbortSignal): Promise<void>;
  /** Whether the endpoint may still be asked, when the turn of the request has come. */
  mayAsk(): boolean;
  answered(): void;
  /** Resolves when the calls are to be sent again to the same endpoint. @throws RpcError where they are not */
  failed(failure: RequestFailure, signal: AbortSignal): Promise<void>;
}

/** How long an endpoint of another chain is not asked again. */
const EXCLUDED_MS = 600_000;
/** Failures in a row, of any requests, after which the endpoint is set aside. */
const MOST_IN_A_ROW = 5;

export class RpcEndpoint {
  readonly name: string;
  readonly health: EndpointHealth;
  readonly delivery = new Delivery();
  readonly budget: Budget | undefined;
  readonly validity = new AnswerValidity();
  isVerified = false;
  /** Until when the endpoint is excluded because it named another chain. */
  private excludedUntilMs = 0;
  questions = 0;
  private readonly exchange: HttpExchange;
  private readonly rate: Rate;
  private readonly gate: RequestGate;
  private readonly batchSize: BatchSize;
  private resting = 0;
  private inARow = 0;
  private fault: RpcError | undefined;
  /** The newest rate-limit error, of a request or of a call in one. */
  private refusal: RpcError | undefined;
  private nextId = 1;

  constructor(
    private readonly url: EndpointUrl,
    private readonly context: PoolContext,
  ) {
    const { time, backoff, random } = context;
    this.name = url.endpoint;
    this.budget = url.budget;
    this.health = new EndpointHealth(backoff, random);
    this.rate = new Rate(url.budget, time.nowMs());
    this.batchSize = new BatchSize(this.name, this.rate);
    this.gate = new RequestGate(this.rate, time);
    this.exchange = new HttpExchange(url, context);
  }

  /**
   * Milliseconds for which the endpoint is set aside: after failures, or after rate limits on half of its requests or
   * more.
   */
  backoffMs(nowMs: number): number {
    return Math.max(this.health.waitMs(nowMs), this.rate.pausedMs(nowMs));
  }

  exclude(nowMs: number): void {
    this.excludedUntilMs = nowMs + EXCLUDED_MS;
  }

  isExcluded(nowMs: number): boolean {
    return nowMs < this.excludedUntilMs;
  }

  get lastFailure(): RpcError | undefined {
    return this.fault ?? this.health.lastFailure;
  }

  /**
   * Why the endpoint is set aside. Includes rate limits on single calls, because a provider that refuses the calls of a
   * request one by one still answers the request.
   */
  get backoffReason(): RpcError | undefined {
    return this.lastFailure ?? this.refusal;
  }

  get hasFreeSlot(): boolean {
    return this.rate.hasFreeSlot && this.questions < this.parallelism;
  }

  /** How many requests at once are useful. Requests that wait for a retry leave their place to others. */
  get parallelism(): number {
    const most = this.rate.parallelism(this.delivery.latencyMs);
    return most + Math.min(most, this.resting);
  }

  /**
   * The answers to the calls, in one request or in as many as the endpoint needs. The first two calls always share a
   * request and count only together: they are the logs and the header that vouches for them. What arrived is not
   * requested again. An error of a single call that a retry would not change is part of the answer.
   * @throws the errors of `guard`; RpcRefusedError where the endpoint accepts no batches
   */
  async batch(calls: readonly RpcCall[], guard: RequestGuard): Promise<BatchAnswer> {
    const batch = new BatchResults(calls);
    const stop = new AbortController();
    const signal = AbortSignal.any([guard.signal, stop.signal]);
    try {
      await this.collect(batch, batch.all, { guard, signal });
      return batch.answer;
    } finally {
      // After one part has failed for good, the other parts are useless.
      stop.abort();
    }
  }

  /** Whether the endpoint answers a request without a range. */
  async isAlive(signal: AbortSignal): Promise<boolean> {
    try {
      const [result] = (await this.send([{ method: 'eth_chainId', params: [] }], signal)).results;
      return result?.ok === true;
    } catch (error) {
      if (error instanceof RpcError) return false;
      throw error;
    }
  }

  private async collect(
    batch: BatchResults,
    places: readonly number[],
    context: { readonly guard: RequestGuard; readonly signal: AbortSignal },
  ): Promise<void> {
    const { guard, signal } = context;
    let missing = places;
    for (let attempt = 1; missing.length > 0; attempt++) {
      const parts = this.batchSize.split(missing, batch.calls);
      if (parts.length > 1) {
        await Promise.all(parts.map((part) => this.collect(batch, part, context)));
        return;
      }
      const calls = batch.callsOf(missing);
      let error: RpcError;
      try {
        const answer = await this.whenAllowed(calls, guard, signal);
        const { failed, again } = batch.keep(missing, answer);
        if (!failed) {
          this.batchSize.answered(calls.length);
          guard.answered();
          return;
        }
        if (again.length < missing.length) attempt = 1;
        missing = again;
        error = failed;
      } catch (reason) {
        if (reason instanceof BatchTooLargeError) {
          this.batchSize.lower(reason, calls.length);
          attempt = 0;
          continue;
        }
        if (!(reason instanceof RpcError)) throw reason;
        error = reason;
      }
      if (error instanceof RateLimitedError) this.batchSize.refused(missing.length);
      this.resting++;
      try {
        await guard.failed({ error, calls: batch.callsOf(missing), attempt }, signal);
      } finally {
        this.resting--;
      }
    }
  }

  private async whenAllowed(
    calls: readonly RpcCall[],
    guard: RequestGuard,
    signal: AbortSignal,
  ): Promise<BatchAnswer> {
    const load = loadOf(calls);
    for (;;) {
      await guard.ready(signal);
      const ticket = await this.gate.enter(load, () => guard.mayAsk(), signal);
      if (!ticket) continue;
      let outcome: Outcome | undefined;
      try {
        const answer = await this.send(calls, signal);
        outcome = outcomeOfAnswer(calls, answer.results);
        return answer;
      } catch (error) {
        outcome = outcomeOfFailure(error);
        throw error;
      } finally {
        this.gate.leave(ticket, outcome);
      }
    }
  }

  private send(calls: readonly RpcCall[], signal: AbortSignal): Promise<BatchAnswer> {
    return inChildSpan(rpcSpan(this.name, calls), (span) => this.sendNow(calls, signal, span));
  }

  private async sendNow(
    calls: readonly RpcCall[],
    signal: AbortSignal,
    span: OpenSpan,
  ): Promise<BatchAnswer> {
    const started = performance.now();
    let outcome = 'ok';
    let failure: unknown;
    let httpStatus: number | undefined;
    let results: readonly RpcResult[] | undefined;
    let bytes = 0;
    try {
      const wire: WireCall[] = calls.map(({ method, params }) => ({
        id: this.nextId++,
        method,
        params,
      }));
      const answer = await this.exchange.send(wire, signal);
      bytes = answer.bytes;
      httpStatus = answer.status;
      results = matchAnswers(wire, answer, this.url);
      failure = failureOf(results);
      if (failure !== undefined) outcome = outcomeOf(failure);
      this.note(undefined, performance.now() - started);
      return { results, bytes };
    } catch (error) {
      outcome = outcomeOf(error);
      failure = error;
      if (error instanceof RpcError) this.note(error, performance.now() - started);
      throw error;
    } finally {
      if (failure instanceof RateLimitedError) this.refusal = failure;
      span.note({ 'lowmark.outcome': outcome });
      this.context.observer.request({
        endpoint: this.name,
        method: calls[0]?.method ?? 'none',
        outcome,
        ...reasonOf(failure, httpStatus),
        seconds: (performance.now() - started) / 1000,
        bytes,
        calls: calls.length,
        callOutcomes: callOutcomes(calls, results ?? outcome),
      });
    }
  }

  private note(error: RpcError | undefined, tookMs: number): void {
    const nowMs = this.context.time.nowMs();
    const isFault = error !== undefined && (isTransient(error) || isClosed(error));
    this.delivery.note(tookMs, isFault, nowMs);
    // The rate handles refusals.
    if (!(error instanceof RateLimitedError)) this.inARow = isFault ? this.inARow + 1 : 0;
    this.fault = isFault ? error : undefined;
    if (!isFault) this.health.succeeded(nowMs);
    else if (isClosed(error) || this.inARow >= MOST_IN_A_ROW) this.health.failed(error, nowMs);
  }
}

/**
 * Whether a retry soon is useless: nothing answers at the address, or an HTTP status such as 401 rejects every request.
 */
export function isClosed(error: RpcError): boolean {
  return error instanceof UnreachableError || isRefusedByStatus(error);
}

/**
 * Whether an HTTP status such as 402 or 403 rejects the request. Some gateways do so now and then, so that one more
 * request shows whether it is for good.
 */
export function isRefusedByStatus(error: RpcError): boolean {
  const { rpcCode = 0 } = error instanceof RpcRefusedError ? error : {};
  return rpcCode >= 300 && rpcCode < 600 && rpcCode !== 400;
}
