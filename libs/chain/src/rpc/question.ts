/**
 * A question to the pool, and the only place that asks again. A question is a function that sends requests, each of one
 * or more calls, to one endpoint, and throws an RpcError if it cannot use the answers.
 *
 * Two loops ask again. `answer` asks one endpoint after the other, the fastest first, the whole question. Within it,
 * `collect` sends the calls that failed to the same endpoint. `reactions.ts` says for each kind of failure which loop
 * goes on. Both may wait until patience is over, which begins at the first failure. Without patience nothing is waited
 * for; with infinite patience only the signal ends the question.
 */
import { growsWithRange } from './classify-rpc-error.js';
import {
  AllEndpointsFailedError,
  BatchTooLargeError,
  ChainMismatchError,
  isInvalidAnswer,
  OverloadedError,
  RangeTooLargeError,
  RateLimitedError,
  RpcError,
  RpcRefusedError,
  SizeRefusedError,
} from './rpc.errors.js';
import { type AnswerValidity } from './answer-validity.js';
import { BatchResults, TAKES_NO_BATCHES } from './batch.js';
import { fastest } from './endpoint-health.js';
import { type Reaction, reactionTo } from './reactions.js';
import { type BatchAnswer, type RpcCall } from './rpc-call.js';
import { type PoolContext, type RpcEndpoint } from './rpc-endpoint.js';

/** One endpoint, for the duration of one question. */
export interface RpcSession {
  readonly endpoint: string;
  /**
   * The answers to the calls, in one request or in as many as the endpoint needs. The first two calls always share a
   * request and count only together: they are the logs and the header that vouches for them. What arrived is not
   * requested again. An error of a single call that a retry would not change is part of the answer.
   * @throws RpcError if the question goes on at another endpoint, or ends
   */
  batch(calls: readonly RpcCall[]): Promise<BatchAnswer>;
}

export interface QuestionOptions {
  /** In order of preference. */
  readonly endpoints: readonly RpcEndpoint[];
  /** The only endpoint is asked even while it is set aside or left out. */
  readonly regardless: boolean;
  readonly patienceMs: number;
  readonly signal: AbortSignal;
  readonly validity: AnswerValidity;
  /** Asks an endpoint for its chain id, if that is not known yet. @throws ChainMismatchError */
  readonly verify: (endpoint: RpcEndpoint, session: RpcSession) => Promise<void>;
}

/** A batch at one endpoint. */
interface Batch {
  readonly endpoint: RpcEndpoint;
  readonly results: BatchResults;
  readonly signal: AbortSignal;
}

/** A request of which some or all calls failed. */
interface RequestFailure {
  readonly error: RpcError;
  readonly calls: readonly RpcCall[];
  /** How often these calls have failed in a row; 1 for the first failure. */
  readonly attempt: number;
}

/** Attempts at one endpoint before another healthy endpoint is asked. */
const TRIES_IN_PLACE = 2;
/** Longest wait for one endpoint while another endpoint is healthy. */
const LONGEST_WAIT_IN_PLACE_MS = 2_000;
/** Divides the first wait if failures are rare. */
const LUCK_DIVISOR = 25;
/** A batch of this many calls is not retried early, because a provider with a budget would refuse it again. */
const LARGE_BATCH = 20;
const LONGEST_BACKOFF_MS = 15_000;
/** Failures in a row that the size of the request may explain. */
const SIZE_FAILURES = 3;
/** How often an endpoint is asked the whole question again. */
const MOST_REASKED = 3;
const LONGEST_REASK_MS = 2_000;

export class Question {
  private readonly failures = new Map<RpcEndpoint, RpcError>();
  /** Endpoints that this question does not ask again, because a wait does not change their answer. */
  private readonly done = new Set<RpcEndpoint>();
  /** Failures that were dealt with when they made the question leave an endpoint. */
  private readonly moved = new WeakSet<RpcError>();
  /** Failures that the size may explain, by endpoint and first call. */
  private readonly sizeFailures = new Map<string, number>();
  private readonly reasked = new Map<RpcEndpoint, number>();
  /** Whether the whole question has failed at an endpoint. */
  private hasFailed = false;
  /** Time of the first failure. An answered request resets it, unless the whole question has failed at an endpoint. */
  private firstFailureMs: number | undefined;
  private isPatienceOver = false;
  /**
   * The only endpoint that may be asked while it is set aside: once more when patience is over, or if only distrusted
   * endpoints are left.
   */
  private allowedWhileAside: RpcEndpoint | undefined;

  constructor(
    private readonly context: PoolContext,
    private readonly options: QuestionOptions,
  ) {}

  /**
   * Asks one endpoint after the other until one answers. A range that is too large, a revert, or an error of our own
   * code ends the question at once.
   * @throws AllEndpointsFailedError
   */
  async answer<T>(ask: (session: RpcSession) => Promise<T>): Promise<T> {
    const { regardless, validity, verify } = this.options;
    for (;;) {
      const endpoint = this.next();
      const session = this.session(endpoint);
      /** The method that the question begins with. */
      const begun: { method?: string } = {};
      endpoint.questions++;
      try {
        await verify(endpoint, session);
        const batch = async (calls: readonly RpcCall[]): Promise<BatchAnswer> => {
          const methods =
            begun.method === undefined ? calls.map((it) => it.method) : [begun.method];
          begun.method ??= calls[0]?.method ?? '';
          if (!regardless)
            for (const method of methods) validity.requireNotLeftOut(endpoint, method);
          return session.batch(calls);
        };
        const answer = await ask({ endpoint: endpoint.name, batch });
        if (begun.method !== undefined) validity.noteValid(endpoint, begun.method);
        return answer;
      } catch (error) {
        if (error instanceof ChainMismatchError) this.excludes(endpoint, error);
        else if (error instanceof RpcError && !(error instanceof RangeTooLargeError))
          await this.endpointFailed(endpoint, error, begun.method ?? 'eth_chainId');
        else throw error;
      } finally {
        endpoint.questions--;
      }
    }
  }

  /** One endpoint, asked within the patience of this question. */
  session(endpoint: RpcEndpoint): RpcSession {
    return { endpoint: endpoint.name, batch: (calls) => this.batch(endpoint, calls) };
  }

  note(endpoint: RpcEndpoint, error: RpcError): void {
    this.failures.set(endpoint, error);
  }

  allFailed(): AllEndpointsFailedError {
    const { endpoints } = this.options;
    const waits = endpoints.map((endpoint) => endpoint.asideMs(this.nowMs));
    const retryAfterMs = Math.min(this.context.backoff.longestMs, ...waits);
    const aside = endpoints.flatMap((endpoint) => {
      const isAside = !this.failures.has(endpoint) && endpoint.asideMs(this.nowMs) > 0;
      return isAside ? (endpoint.asideReason ?? []) : [];
    });
    return new AllEndpointsFailedError([...this.failures.values()], retryAfterMs, aside);
  }

  /** @throws AllEndpointsFailedError if no endpoint is left */
  private next(): RpcEndpoint {
    const { endpoints } = this.options;
    const left = endpoints.filter((endpoint) => !this.done.has(endpoint));
    if (this.isPatienceOver) {
      // Each endpoint that has not failed yet is asked once, even if it is set aside, unless none was asked so far.
      const untried = left.find((one) => !this.failures.has(one) && !one.health.isHeld(this.nowMs));
      if (!untried || this.failures.size === 0) throw this.allFailed();
      this.allowedWhileAside = untried;
      return untried;
    }
    const ready = left.filter((endpoint) => this.isReady(endpoint));
    const chosen = fastest(ready, this.nowMs) ?? this.allowDistrusted(left) ?? this.firstBack(left);
    if (!chosen) throw this.allFailed();
    return chosen;
  }

  /** @see RpcSession.batch */
  private async batch(endpoint: RpcEndpoint, calls: readonly RpcCall[]): Promise<BatchAnswer> {
    const results = new BatchResults(calls);
    const stop = new AbortController();
    const signal = AbortSignal.any([this.options.signal, stop.signal]);
    try {
      await this.collect({ endpoint, results, signal }, results.all, 1);
      return results.answer;
    } finally {
      // After one part has failed for good, the other parts are useless.
      stop.abort();
    }
  }

  /**
   * Requests the calls at these places, in parts if they are too many for one request, until all are answered.
   * @param first the attempt that comes next; more than 1 for parts of a batch that failed
   */
  private async collect(batch: Batch, places: readonly number[], first: number): Promise<void> {
    const { endpoint, results, signal } = batch;
    let missing = places;
    for (let attempt = first; missing.length > 0; attempt++) {
      const parts = endpoint.batchSize.split(missing, results.calls);
      if (parts.length > 1) {
        await Promise.all(parts.map((part) => this.collect(batch, part, attempt)));
        return;
      }
      const calls = results.callsOf(missing);
      let error: RpcError;
      try {
        const answer = await this.send(endpoint, calls, signal);
        const { failed, again } = results.keep(missing, answer);
        if (!failed) {
          endpoint.batchSize.answered(calls.length);
          // After the whole question has failed at an endpoint, an answer does not renew patience: the question could
          // move to and fro between two endpoints for ever.
          if (!this.hasFailed) this.firstFailureMs = undefined;
          return;
        }
        // Some of the calls were answered: the count begins again.
        if (again.length < missing.length) attempt = 1;
        missing = again;
        error = failed;
      } catch (reason) {
        if (reason instanceof BatchTooLargeError) {
          endpoint.batchSize.lower(reason, calls.length);
          attempt = 0;
          continue;
        }
        if (!(reason instanceof RpcError)) throw reason;
        error = reason;
      }
      if (error instanceof RateLimitedError) endpoint.batchSize.refused(missing.length);
      const failure = { error, calls: results.callsOf(missing), attempt };
      await endpoint.whileResting(() => this.requestFailed(endpoint, failure, signal));
    }
  }

  /** Sends a request as soon as the endpoint may be asked. @throws RpcError if the question does not wait for this */
  private async send(
    endpoint: RpcEndpoint,
    calls: readonly RpcCall[],
    signal: AbortSignal,
  ): Promise<BatchAnswer> {
    for (;;) {
      while (!this.isReady(endpoint)) {
        const error = endpoint.lastFailure;
        if (error && this.hasOther(endpoint)) throw this.movesOn(error);
        if (endpoint.health.isDistrusted(this.nowMs)) {
          this.allowedWhileAside = endpoint;
          break;
        }
        const waitMs = endpoint.asideMs(this.nowMs);
        if (this.allowWait(waitMs)) await this.pause(endpoint, waitMs, signal);
        else if (this.failures.size === 0 || endpoint.health.isHeld(this.nowMs))
          throw this.allFailed();
        // Patience is over: one last request, although the endpoint is set aside.
        else this.allowedWhileAside = endpoint;
      }
      const answer = await endpoint.request(calls, () => this.isReady(endpoint), signal);
      if (answer) return answer;
    }
  }

  /** Resolves when the calls are to be sent again to the same endpoint. @throws RpcError if they are not */
  private async requestFailed(
    endpoint: RpcEndpoint,
    failure: RequestFailure,
    signal: AbortSignal,
  ): Promise<void> {
    const { error, attempt, calls } = failure;
    const { regardless, validity } = this.options;
    const reaction = reactionTo(error);
    this.note(endpoint, error);
    if (isInvalidAnswer(error)) {
      const method = calls[0]?.method ?? '';
      validity.noteInvalid(endpoint, method, error);
      if (!regardless) validity.requireNotLeftOut(endpoint, method);
    }
    if (!resends(reaction, attempt)) throw error;
    if (await this.probeAfter(endpoint, failure, signal)) return;
    const waitMs = Math.max(this.waitMs(endpoint, failure), endpoint.asideMs(this.nowMs));
    const leaves =
      reaction.leaves || attempt >= TRIES_IN_PLACE || waitMs > LONGEST_WAIT_IN_PLACE_MS;
    if (leaves && this.hasOther(endpoint)) {
      endpoint.health.failed(error, this.nowMs);
      throw this.movesOn(error);
    }
    if (!this.allowWait(waitMs)) throw error;
    await this.pause(endpoint, waitMs, signal);
  }

  /**
   * Counts the failure, and probes the endpoint if there were enough of them: for batches that break, or for a range that
   * may be too large.
   * @returns whether the limit for batches was lowered, so that the calls are sent again at once
   * @throws RpcError if the endpoint takes no batches, or the size of the range is the cause
   */
  private async probeAfter(
    endpoint: RpcEndpoint,
    failure: RequestFailure,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { error, calls } = failure;
    const isBroken = reactionTo(error).isBroken && calls.length > 1;
    const isBatchProbeDue = isBroken ? endpoint.countBrokenBatch(calls.length) : false;
    const isSizeProbeDue = this.countSizeFailure(endpoint, failure);
    if (!isBatchProbeDue && !isSizeProbeDue) return false;
    const upTo = isBroken ? 'batches' : 'single calls';
    const answers = await endpoint.probe(upTo, signal);
    if (answers !== 'nothing' && answers !== upTo) throw this.refusesBatches(endpoint, calls);
    if (answers === upTo && isSizeProbeDue) {
      this.done.add(endpoint);
      throw new SizeRefusedError(error);
    }
    if (answers !== 'batches' || calls.length <= 2) return false;
    endpoint.batchSize.broke(calls.length);
    return true;
  }

  /**
   * The question ended with an error of this endpoint, of a request or of the check of its answers. Resolves when another
   * endpoint, or the same one, is to be asked.
   */
  private async endpointFailed(
    endpoint: RpcEndpoint,
    error: RpcError,
    method: string,
  ): Promise<void> {
    const { endpoints, signal, validity } = this.options;
    if (isInvalidAnswer(error)) validity.noteInvalid(endpoint, method, error);
    this.note(endpoint, error);
    this.hasFailed = true;
    if (this.isPatienceOver || this.moved.has(error) || this.done.has(endpoint)) return;
    const { reask, setsAside } = reactionTo(error);
    if (setsAside === 'always' || (setsAside === 'if there is another' && endpoints.length > 1)) {
      endpoint.health.failed(error, this.nowMs);
    }
    const times = (this.reasked.get(endpoint) ?? 0) + 1;
    this.reasked.set(endpoint, times);
    if (!reask || times > MOST_REASKED) this.done.add(endpoint);
    else if (!this.hasOther(endpoint)) {
      const waitMs = Math.min(LONGEST_REASK_MS, this.backoffMs(times));
      if (this.allowWait(waitMs)) await this.pause(endpoint, waitMs, signal);
    }
  }

  /** Questions of this kind are asked at other endpoints for a while, since none can be answered without batches. */
  private refusesBatches(endpoint: RpcEndpoint, calls: readonly RpcCall[]): RpcError {
    const method = calls[0]?.method ?? '';
    const { regardless, validity } = this.options;
    const refused = new RpcRefusedError(TAKES_NO_BATCHES, { endpoint: endpoint.name });
    this.note(endpoint, refused);
    validity.leaveOut(endpoint.name, method, refused);
    if (!regardless) validity.requireNotLeftOut(endpoint, method);
    return refused;
  }

  private excludes(endpoint: RpcEndpoint, { code, message }: ChainMismatchError): void {
    endpoint.exclude(this.nowMs);
    this.context.observer.warning({ endpoint: endpoint.name, code, message });
    this.done.add(endpoint);
  }

  private movesOn(error: RpcError): RpcError {
    this.moved.add(error);
    return error;
  }

  /**
   * Counts failures that the size of the range may explain, whatever they say. Returns whether this range has failed so
   * often that a probe is due: the size is the cause if the endpoint answers a request without a range.
   */
  private countSizeFailure(endpoint: RpcEndpoint, { error, calls }: RequestFailure): boolean {
    const isLimit = error instanceof RateLimitedError;
    if (!(error.sizeMayExplain || isLimit) || !growsWithRange(calls[0]?.method ?? '')) return false;
    const key = `${endpoint.name} ${JSON.stringify(calls[0])}`;
    // A 503 or a rate limit counts half, because three in a row happen by chance if one request in twenty gets one.
    const isByChance = error instanceof OverloadedError || (isLimit && !error.isVague);
    const weight = isByChance ? 0.5 : 1;
    const count = (this.sizeFailures.get(key) ?? 0) + weight;
    this.sizeFailures.set(key, count);
    return count % SIZE_FAILURES === 0;
  }

  /** The wait that the endpoint asked for, or else a backoff. */
  private waitMs(endpoint: RpcEndpoint, { error, calls, attempt }: RequestFailure): number {
    const askedMs = error instanceof RateLimitedError ? (error.retryAfterMs ?? 0) : 0;
    if (askedMs > 0) return askedMs;
    const isLuck = attempt === 1 && calls.length < LARGE_BATCH && endpoint.delivery.failsRarely;
    return this.backoffMs(attempt) / (isLuck ? LUCK_DIVISOR : 1);
  }

  /** Returns whether patience is long enough for a wait. If it is not, patience is over from now on. */
  private allowWait(waitMs: number): boolean {
    this.firstFailureMs ??= this.nowMs;
    const leftMs = this.options.patienceMs - (this.nowMs - this.firstFailureMs);
    this.isPatienceOver ||= leftMs <= 0 || waitMs > leftMs;
    return !this.isPatienceOver;
  }

  private async pause(endpoint: RpcEndpoint, waitMs: number, signal: AbortSignal): Promise<void> {
    const fromMs = this.nowMs;
    const forMs = fromMs - (this.firstFailureMs ?? fromMs);
    if (endpoint.asideMs(fromMs) > 0 || forMs > LONGEST_WAIT_IN_PLACE_MS) {
      const message = endpoint.lastFailure?.message ?? `${endpoint.name} does not answer`;
      this.context.observer.waiting?.({ endpoint: endpoint.name, message, waitMs, forMs });
    }
    await this.context.time.sleep(waitMs, signal);
  }

  private isReady(endpoint: RpcEndpoint): boolean {
    if (this.options.regardless || this.allowedWhileAside === endpoint) return true;
    return endpoint.asideMs(this.nowMs) === 0;
  }

  private hasOther(endpoint: RpcEndpoint): boolean {
    return this.options.endpoints.some(
      (other) => other !== endpoint && !this.done.has(other) && this.isReady(other),
    );
  }

  /**
   * Allows an endpoint that left out logs: it is better than none, because its answers are checked against another
   * source in any case.
   */
  private allowDistrusted(endpoints: readonly RpcEndpoint[]): RpcEndpoint | undefined {
    this.allowedWhileAside = endpoints.find(({ health }) => health.isDistrusted(this.nowMs));
    return this.allowedWhileAside;
  }

  /** The endpoint that is set aside for the shortest time. */
  private firstBack(endpoints: readonly RpcEndpoint[]): RpcEndpoint | undefined {
    const aside = (endpoint: RpcEndpoint): number => endpoint.asideMs(this.nowMs);
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

function resends({ resend }: Reaction, attempt: number): boolean {
  return resend === 'while patient' || (resend === 'once' && attempt === 1);
}
