/**
 * All endpoints of the chain. A question (`question.ts`) goes to the endpoint that delivers fastest, the first in the list
 * among equals, and if that one fails to the next. The chain id of every endpoint is checked before anything else.
 *
 * An endpoint is not asked while it is
 * - set aside: it failed, left out logs or is behind (endpoint-health.ts), or refuses most requests (rate.ts);
 * - left out, of questions whose first request has a method that it does not answer validly (answer-validity.ts);
 * - excluded: it named another chain (rpc-endpoint.ts);
 * - done, for one question: a wait does not change its answer (question.ts).
 *
 * To read: rpc-pool, question, reactions, rpc-endpoint, http-exchange. known-errors, classify-rpc-error, rate and
 * json-body can wait.
 */
import {
  ChainMismatchError,
  MalformedAnswerError,
  RpcError,
  RpcTimeoutError,
} from './rpc.errors.js';
import { quantity } from './hex.js';
import { AnswerValidity } from './answer-validity.js';
import { type BackoffOptions } from './endpoint-health.js';
import { endpointUrls } from './endpoint-urls.js';
import { type PostBody, postOverHttp } from './http-exchange.js';
import { PoolTime, type Sleep, sleepFor } from './pool-time.js';
import { Question, type RpcSession } from './question.js';
import { valueOf } from './rpc-call.js';
import { type PoolContext, RpcEndpoint } from './rpc-endpoint.js';
import { type RpcObserver, silentObserver } from './rpc-observer.js';
import { type Budget } from './rate.js';

export interface RpcPoolOptions {
  /** In order of preference; http or https. A fragment sets the budget of an endpoint: `#rps=25`, `#cups=500`. */
  readonly urls: readonly string[];
  readonly clock: { nowMs(): number };
  readonly observer?: RpcObserver;
  /** For one HTTP request, including the body. */
  readonly timeoutMs?: number;
  readonly maxResponseBytes?: number;
  readonly backoff?: BackoffOptions;
  /** How long a question goes on after its first failure, unless the question sets its own patience. */
  readonly patienceMs?: number;
  /** Random numbers from 0 to 1, for the jitter. */
  readonly random?: () => number;
  readonly sleep?: Sleep;
  /** How requests reach the endpoints; by default over HTTP. */
  readonly post?: PostBody;
}

export interface RunOptions {
  readonly avoid?: readonly string[] | undefined;
  /** The only endpoint to ask, even while it is set aside. */
  readonly only?: string | undefined;
  /**
   * How long the question goes on after its first failure. 0: without any wait. Infinity, which needs a signal: until
   * the signal is aborted.
   */
  readonly patienceMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

const CHAIN_ID = 'eth_chainId';
const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_MAX_RESPONSE_BYTES = 32 * 1024 * 1024;
const DEFAULT_BACKOFF = { firstMs: 250, longestMs: 60_000 };
const DEFAULT_PATIENCE_MS = 5_000;
/** Patience at the start: an endpoint that does not answer is verified later. */
const VERIFY_PATIENCE_MS = 1_000;
/** How long the other endpoints are waited for once one endpoint has answered. */
const VERIFY_OTHERS_MS = 5_000;

export class RpcPool {
  private readonly all: readonly RpcEndpoint[];
  private readonly context: PoolContext;
  private readonly validity: AnswerValidity;
  private readonly patienceMs: number;
  private expectedChainId: number | undefined;
  private readonly stopping = new AbortController();

  /** @throws PermanentError if a URL or its budget is not usable; names its place in the list, never its text */
  constructor(private readonly options: RpcPoolOptions) {
    this.patienceMs = options.patienceMs ?? DEFAULT_PATIENCE_MS;
    this.context = {
      post: options.post ?? postOverHttp(),
      timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
      maxResponseBytes: options.maxResponseBytes ?? DEFAULT_MAX_RESPONSE_BYTES,
      backoff: options.backoff ?? DEFAULT_BACKOFF,
      random: options.random ?? Math.random,
      time: new PoolTime(options.clock, options.sleep ?? sleepFor),
      observer: options.observer ?? silentObserver,
    };
    this.all = endpointUrls(options.urls).map((url) => new RpcEndpoint(url, this.context));
    this.validity = new AnswerValidity(this.all, this.context);
  }

  /** The names of all endpoints, in order of preference. */
  get endpoints(): readonly string[] {
    return this.all.map(({ name }) => name);
  }

  /** The budget of each endpoint by RPC_URLS, in the same order; undefined if RPC_URLS sets none. */
  get budgets(): readonly (Budget | undefined)[] {
    return this.all.map(({ budget }) => budget);
  }

  /** How many requests at once are useful: the sum over the healthy endpoints, at least 1. */
  parallelism(): number {
    const nowMs = this.context.time.nowMs();
    const healthy = this.all.filter((one) => !one.isExcluded(nowMs) && one.asideMs(nowMs) === 0);
    return Math.max(
      1,
      healthy.reduce((sum, { parallelism }) => sum + parallelism, 0),
    );
  }

  /**
   * Asks every endpoint for its chain id. An endpoint that cannot answer now is asked again before its first use, and
   * is excluded for a time if it serves another chain. A silent endpoint delays the others by some seconds only.
   * @throws ChainMismatchError naming the endpoint; AllEndpointsFailedError if none answers
   */
  async verifyChainId(expected: number, signal?: AbortSignal): Promise<void> {
    this.expectedChainId = expected;
    const patienceMs = Math.min(VERIFY_PATIENCE_MS, this.patienceMs);
    const all = this.question(this.all, { patienceMs, signal });
    let failed = 0;
    const late = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const verifyOne = async (endpoint: RpcEndpoint): Promise<void> => {
      const ends = signal ? AbortSignal.any([signal, late.signal]) : late.signal;
      const options = { patienceMs, only: endpoint.name, signal: ends };
      try {
        const question = this.question([endpoint], options);
        await this.verify(endpoint, expected, question.session(endpoint));
        timer ??= setTimeout(() => {
          late.abort(SILENT);
        }, VERIFY_OTHERS_MS);
      } catch (reason) {
        const what = `no answer within ${VERIFY_OTHERS_MS} ms`;
        const error =
          reason === SILENT ? new RpcTimeoutError(what, { endpoint: endpoint.name }) : reason;
        if (!(error instanceof RpcError)) throw error;
        failed++;
        endpoint.health.failed(error, this.context.time.nowMs());
        all.note(endpoint, error);
      }
    };
    try {
      await Promise.all(this.all.map(verifyOne));
    } finally {
      clearTimeout(timer);
    }
    if (failed === this.all.length) throw all.allFailed();
  }

  /**
   * Asks one endpoint after the other until one answers.
   * @param ask sends the requests, and judges their answers: an RpcError that it throws is a failure of the endpoint
   * @throws AllEndpointsFailedError; at once a RangeTooLargeError, a revert, or an error of our own code
   */
  async run<T>(ask: (session: RpcSession) => Promise<T>, options: RunOptions = {}): Promise<T> {
    return this.question(this.allowed(options), options).answer(ask);
  }

  /**
   * Leaves an endpoint out of questions whose first request has this method, for as long as another one is not, because its answers
   * are proven wrong by its other answers. It is tried again every minute.
   */
  leaveOut(method: string, error: RpcError): void {
    this.validity.leaveOut(error.endpoint, method, error);
  }

  /** The endpoints that are left out of questions whose first request has this method. */
  leftOut(method: string): readonly string[] {
    return this.validity.leftOut(method);
  }

  warn(endpoint: string, code: string, message: string): void {
    this.context.observer.warning({ endpoint, code, message });
  }

  /** Ends all current and later questions with an AbortError, without waiting for answers. */
  stop(): void {
    this.stopping.abort();
  }

  nowMs(): number {
    return this.options.clock.nowMs();
  }

  private question(endpoints: readonly RpcEndpoint[], options: RunOptions): Question {
    const { signal, patienceMs = this.patienceMs } = options;
    if (patienceMs === Infinity && !signal) {
      throw new TypeError('Infinite patience needs a signal that ends it.');
    }
    const regardless = options.only !== undefined;
    const stopped = this.stopping.signal;
    return new Question(this.context, {
      endpoints,
      regardless,
      patienceMs,
      signal: signal ? AbortSignal.any([signal, stopped]) : stopped,
      validity: this.validity,
      verify: async (endpoint, session) => {
        if (endpoint.isVerified || this.expectedChainId === undefined) return;
        if (!regardless) this.validity.requireNotLeftOut(endpoint, CHAIN_ID);
        await this.verify(endpoint, this.expectedChainId, session);
      },
    });
  }

  private allowed({ avoid = [], only }: RunOptions): RpcEndpoint[] {
    const nowMs = this.context.time.nowMs();
    return this.all.filter(
      (one) =>
        !one.isExcluded(nowMs) &&
        !avoid.includes(one.name) &&
        (only === undefined || only === one.name),
    );
  }

  private async verify(
    endpoint: RpcEndpoint,
    expected: number,
    session: RpcSession,
  ): Promise<void> {
    const ask = async (): Promise<number> => {
      const { results } = await session.batch([{ method: CHAIN_ID, params: [] }]);
      const named = quantity(valueOf(results[0]));
      if (named !== undefined) return named;
      throw new MalformedAnswerError('named no chain', session);
    };
    // One answer may be wrong by accident.
    if ((await ask()) !== expected) {
      const actual = await ask();
      if (actual !== expected) throw new ChainMismatchError(endpoint.name, expected, actual);
    }
    this.validity.noteValid(endpoint, CHAIN_ID);
    endpoint.isVerified = true;
  }
}

const SILENT = Symbol('silent');
