/**
 * One endpoint. Sends each request once, at a rate that the endpoint accepts (`Rate`), and knows whether it may be
 * asked (`EndpointHealth`) and how fast it is (`Delivery`). The question (`question.ts`) decides what is sent again. Only
 * a probe is sent without a wait.
 */
import { inChildSpan, type OpenSpan } from '#libs/platform';
import {
  BatchTooLargeError,
  type ExecutionRevertedError,
  isTransient,
  RateLimitedError,
  RpcError,
} from './rpc.errors.js';
import { BatchSize } from './batch.js';
import { type BackoffOptions, Delivery, EndpointHealth } from './endpoint-health.js';
import { type EndpointUrl } from './endpoint-urls.js';
import { HttpExchange, matchAnswers, type PostBody, type WireCall } from './http-exchange.js';
import {
  type Budget,
  loadOf,
  type Outcome,
  outcomeOfAnswer,
  outcomeOfFailure,
  Rate,
} from './rate.js';
import { type PoolTime } from './pool-time.js';
import { isClosed, reactionTo } from './reactions.js';
import { RequestGate } from './request-gate.js';
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

/** How long an endpoint of another chain is not asked again. */
const EXCLUDED_MS = 600_000;
/** Failures in a row, of any requests, after which the endpoint is set aside. */
const MOST_IN_A_ROW = 5;

/** Batches in a row that break, after which a single call and the smallest batch are tried. */
const BROKEN_BATCHES = 3;

export class RpcEndpoint {
  readonly name: string;
  readonly health: EndpointHealth;
  readonly delivery = new Delivery();
  readonly budget: Budget | undefined;
  readonly batchSize: BatchSize;
  isVerified = false;
  /** Until when the endpoint is excluded because it named another chain. */
  private excludedUntilMs = 0;
  /** Number of questions that this endpoint is asked now. */
  questions = 0;
  private readonly exchange: HttpExchange;
  private readonly rate: Rate;
  private readonly gate: RequestGate;
  /** Number of requests that wait to be sent again. */
  private resting = 0;
  /** Failures in a row, of any requests. */
  private inARow = 0;
  /** Batches that broke or were not answered, since one as large as the smallest of them was answered. */
  private brokenBatches = 0;
  private smallestBroken = Infinity;
  /** Whether the last probe found that the endpoint answers single calls only. */
  private refusesBatches = false;
  /** Why the newest request failed; undefined if it did not. */
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
  asideMs(nowMs: number): number {
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
  get asideReason(): RpcError | undefined {
    return this.lastFailure ?? this.refusal;
  }

  get hasFreeSlot(): boolean {
    return this.rate.hasFreeSlot && this.questions < this.parallelism;
  }

  /** How many requests at once are useful. */
  get parallelism(): number {
    const most = this.rate.parallelism(this.delivery.latencyMs);
    return most + Math.min(most, this.resting);
  }

  /**
   * One request, when its turn has come.
   * @param mayAsk whether the endpoint may still be asked
   * @returns undefined if it may not be asked any more
   */
  async request(
    calls: readonly RpcCall[],
    mayAsk: () => boolean,
    signal: AbortSignal,
  ): Promise<BatchAnswer | undefined> {
    const ticket = await this.gate.enter(loadOf(calls), mayAsk, signal);
    if (!ticket) return undefined;
    let outcome: Outcome | undefined;
    try {
      const answer = await this.send(calls, signal);
      outcome = outcomeOfAnswer(calls, answer.results);
      if (calls.length > 1) this.batchAnswered(calls.length);
      return answer;
    } catch (error) {
      outcome = outcomeOfFailure(error);
      throw error;
    } finally {
      this.gate.leave(ticket, outcome);
    }
  }

  /** Waits before a request is sent again. Meanwhile another request may take its place (`parallelism`). */
  async whileResting(wait: () => Promise<void>): Promise<void> {
    this.resting++;
    try {
      await wait();
    } finally {
      this.resting--;
    }
  }

  private batchAnswered(size: number): void {
    this.refusesBatches = false;
    if (size < this.smallestBroken && this.brokenBatches > 0) return;
    [this.brokenBatches, this.smallestBroken] = [0, Infinity];
  }

  /** Counts a batch of so many calls that broke. @returns whether a probe is due */
  countBrokenBatch(size: number): boolean {
    this.brokenBatches++;
    this.smallestBroken = Math.min(this.smallestBroken, size);
    return this.refusesBatches || this.brokenBatches % BROKEN_BATCHES === 0;
  }

  /** Asks what the endpoint answers now: nothing, single calls without a range, or also the smallest batch of them. */
  async probe(
    upTo: 'single calls' | 'batches',
    signal: AbortSignal,
  ): Promise<'nothing' | 'single calls' | 'batches'> {
    const call = { method: 'eth_chainId', params: [] };
    if ((await this.probed([call], signal)) !== undefined) {
      // What breaks while nothing is answered says nothing about batches.
      this.brokenBatches = 0;
      return 'nothing';
    }
    if (upTo === 'single calls') return 'single calls';
    const error = await this.probed([call, call], signal);
    const isBroken =
      error instanceof BatchTooLargeError ||
      (error instanceof RpcError && reactionTo(error).isBroken);
    this.refusesBatches = isBroken;
    return this.refusesBatches ? 'single calls' : 'batches';
  }

  /**
   * The error of a request that does not count for the health, since others may fail all the same. It uses up the budget,
   * but says nothing about limits, and does not queue behind requests that may all time out.
   */
  private async probed(
    calls: readonly RpcCall[],
    signal: AbortSignal,
  ): Promise<RpcError | ExecutionRevertedError | undefined> {
    const ticket = this.gate.pass(loadOf(calls));
    try {
      const { results } = await this.send(calls, signal, true);
      return results.flatMap((result) => (result.ok ? [] : [result.error]))[0];
    } catch (error) {
      if (error instanceof RpcError) return error;
      throw error;
    } finally {
      this.gate.leave(ticket, undefined);
    }
  }

  private send(
    calls: readonly RpcCall[],
    signal: AbortSignal,
    isProbe = false,
  ): Promise<BatchAnswer> {
    return inChildSpan(rpcSpan(this.name, calls), (span) =>
      this.sendNow(calls, { signal, isProbe }, span),
    );
  }

  private async sendNow(
    calls: readonly RpcCall[],
    { signal, isProbe }: { readonly signal: AbortSignal; readonly isProbe: boolean },
    span: OpenSpan,
  ): Promise<BatchAnswer> {
    const started = performance.now();
    let outcome = 'ok';
    let failure: unknown;
    let httpStatus: number | undefined;
    let results: readonly RpcResult[] | undefined;
    let bytes = 0;
    try {
      const wire: WireCall[] = calls.map((call) => ({ ...call, id: this.nextId++ }));
      const answer = await this.exchange.send(wire, signal);
      bytes = answer.bytes;
      httpStatus = answer.status;
      results = matchAnswers(wire, answer, this.url);
      failure = failureOf(results);
      if (failure !== undefined) outcome = outcomeOf(failure);
      if (!isProbe) this.note(undefined, performance.now() - started);
      return { results, bytes };
    } catch (error) {
      outcome = outcomeOf(error);
      failure = error;
      if (error instanceof RpcError && !isProbe) this.note(error, performance.now() - started);
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
