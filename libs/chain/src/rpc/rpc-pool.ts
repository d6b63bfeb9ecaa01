/**
 * Endpoints in order of preference. A question goes to the first one in health and, where that fails, on to the next; every
 * endpoint is asked for its chain id before anything else.
 */
import {
  AllEndpointsFailedError,
  ChainMismatchError,
  LogsWithheldError,
  RangeTooLargeError,
  RpcError,
  RpcTimeoutError,
  StateUnavailableError,
} from '../errors/rpc.errors.js';
import { type BackoffOptions, EndpointHealth } from './endpoint-health.js';
import { endpointUrls } from './endpoint-urls.js';
import { type BatchAnswer, type RpcCall, valueOf } from './rpc-call.js';
import { RpcEndpoint } from './rpc-endpoint.js';
import { type RpcObserver, silentObserver } from './rpc-observer.js';
import { quantity } from '../shape/hex.js';

export interface RpcPoolOptions {
  /** First preferred; http or https. */
  readonly urls: readonly string[];
  readonly clock: { nowMs(): number };
  readonly observer?: RpcObserver;
  /** For one HTTP request, the body included. */
  readonly timeoutMs?: number;
  readonly maxResponseBytes?: number;
  readonly backoff?: BackoffOptions;
  /** How long a question waits for an endpoint to come back before it fails. */
  readonly patienceMs?: number;
  /** 0 to 1; for the jitter. */
  readonly random?: () => number;
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/** One endpoint, for the length of one question. */
export interface RpcSession {
  readonly endpoint: string;
  /** @see RpcEndpoint.batch */
  batch(calls: readonly RpcCall[]): Promise<BatchAnswer>;
}

export interface RunOptions {
  /** Names of endpoints that must not be asked. */
  readonly avoid?: readonly string[];
  /** The only endpoint to ask, in health or not. */
  readonly only?: string;
  /** False: do not wait for an endpoint to come back. */
  readonly patient?: boolean;
  /** How long the question may wait for endpoints that fail for now; Infinity needs a signal. Default: the pool's. */
  readonly patienceMs?: number;
  readonly signal?: AbortSignal | undefined;
}

interface Member {
  readonly endpoint: RpcEndpoint;
  readonly health: EndpointHealth;
  verified: boolean;
  excluded: boolean;
}

const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_MAX_RESPONSE_BYTES = 64 * 1024 * 1024;
const DEFAULT_BACKOFF = { firstMs: 250, longestMs: 60_000 };
const DEFAULT_PATIENCE_MS = 5_000;

export class RpcPool {
  private readonly members: readonly Member[];
  private readonly observer: RpcObserver;
  private readonly patienceMs: number;
  private readonly longestMs: number;
  private readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  private expectedChainId: number | undefined;

  /** @throws PermanentError where a URL is not usable, naming its place in the list, never its text */
  constructor(private readonly options: RpcPoolOptions) {
    const { clock, timeoutMs, maxResponseBytes, backoff, random } = options;
    this.observer = options.observer ?? silentObserver;
    this.patienceMs = options.patienceMs ?? DEFAULT_PATIENCE_MS;
    this.longestMs = (backoff ?? DEFAULT_BACKOFF).longestMs;
    this.sleep = options.sleep ?? sleepFor;
    this.members = endpointUrls(options.urls).map(({ url, name }) => ({
      endpoint: new RpcEndpoint(url, name, {
        timeoutMs: timeoutMs ?? DEFAULT_TIMEOUT_MS,
        maxResponseBytes: maxResponseBytes ?? DEFAULT_MAX_RESPONSE_BYTES,
        nowMs: () => clock.nowMs(),
        observer: this.observer,
      }),
      health: new EndpointHealth(backoff ?? DEFAULT_BACKOFF, random ?? Math.random),
      verified: false,
      excluded: false,
    }));
  }

  /** The names of all endpoints, in order of preference. */
  get endpoints(): readonly string[] {
    return this.members.map((member) => member.endpoint.name);
  }

  /**
   * Asks every endpoint for its chain id. One that cannot answer now is asked again before its first use, and is left out for
   * good should it then turn out to serve another chain.
   * @throws ChainMismatchError naming the endpoint; AllEndpointsFailedError where none answers
   */
  async verifyChainId(expected: number, signal?: AbortSignal): Promise<void> {
    this.expectedChainId = expected;
    const failures: RpcError[] = [];
    await Promise.all(
      this.members.map(async (member) => {
        try {
          await this.verify(member, expected, signal);
        } catch (error) {
          if (!(error instanceof RpcError)) throw error;
          failures.push(error);
          member.health.failed(error, this.nowMs());
        }
      }),
    );
    if (failures.length === this.members.length) throw this.allFailed(failures, this.members);
  }

  /**
   * Runs `operation` against one endpoint after the other until one succeeds. A range that is too large, a revert or an error
   * of our own ends it at once.
   * @throws AllEndpointsFailedError
   */
  async run<T>(
    operation: (session: RpcSession) => Promise<T>,
    options: RunOptions = {},
  ): Promise<T> {
    const allowed = this.allowed(options);
    const failures: RpcError[] = [];
    for (const member of await this.queue(allowed, options)) {
      try {
        await this.verifyBeforeUse(member, options.signal);
        const { endpoint } = member;
        const answer = await operation({
          endpoint: endpoint.name,
          batch: (calls) => endpoint.batch(calls, options.signal),
        });
        member.health.succeeded();
        return answer;
      } catch (error) {
        if (error instanceof ChainMismatchError) {
          this.exclude(member, error);
          continue;
        }
        const failure = this.noteFailure(member, error);
        if (!failure) throw error;
        failures.push(failure);
      }
    }
    throw this.allFailed(failures, allowed);
  }

  /** Says something about an endpoint to whoever observes the pool. */
  warn(endpoint: string, code: string, message: string): void {
    this.observer.warning({ endpoint, code, message });
  }

  /** By the pool's clock. */
  nowMs(): number {
    return this.options.clock.nowMs();
  }

  private allowed({ avoid = [], only }: RunOptions): Member[] {
    return this.members.filter(
      ({ endpoint: { name }, excluded }) =>
        !excluded && !avoid.includes(name) && (only === undefined || only === name),
    );
  }

  /** Those in health in order of preference, then the others; waits for the first to come back where all are set aside. */
  private async queue(allowed: readonly Member[], options: RunOptions): Promise<Member[]> {
    if (options.only !== undefined) return [...allowed];
    const waits = (member: Member): number => member.health.waitMs(this.nowMs());
    const soonest = Math.min(...allowed.map(waits));
    if (soonest > 0) {
      if (soonest > this.patienceMs || options.patient === false) throw this.allFailed([], allowed);
      await this.sleep(soonest, options.signal);
      const back = allowed.filter((member) => waits(member) === 0);
      return back.length > 0 ? back : allowed.filter((member) => !this.isHeld(member));
    }
    const ready = allowed.filter((member) => waits(member) === 0);
    const aside = allowed.filter((member) => waits(member) > 0 && !this.isHeld(member));
    return [...ready, ...aside.sort((a, b) => waits(a) - waits(b))];
  }

  private isHeld(member: Member): boolean {
    return member.health.isHeld(this.nowMs());
  }

  /** @returns the failure where another endpoint may do better, undefined where the error must go to the caller */
  private noteFailure(member: Member, error: unknown): RpcError | undefined {
    if (!(error instanceof RpcError)) return undefined;
    if (error instanceof RangeTooLargeError) {
      // The caller narrows, but a node that did not answer in time is not the first to ask again.
      if (error.cause instanceof RpcTimeoutError) member.health.failed(error, this.nowMs());
      return undefined;
    }
    if (!this.mayBeAskedOn(error)) member.health.failed(error, this.nowMs());
    return error;
  }

  /** Failures that do not speak against the endpoint's next answer, or against the only endpoint there is. */
  private mayBeAskedOn(error: RpcError): boolean {
    if (error instanceof StateUnavailableError) return true;
    const usable = this.members.filter(({ excluded }) => !excluded);
    return error instanceof LogsWithheldError && usable.length === 1;
  }

  private exclude(member: Member, error: ChainMismatchError): void {
    member.excluded = true;
    this.warn(member.endpoint.name, error.code, error.message);
  }

  private allFailed(failures: readonly RpcError[], asked: readonly Member[]): Error {
    const waits = asked.map((member) => member.health.waitMs(this.nowMs()));
    return new AllEndpointsFailedError(failures, Math.min(this.longestMs, ...waits));
  }

  private async verifyBeforeUse(member: Member, signal: AbortSignal | undefined): Promise<void> {
    if (member.verified || this.expectedChainId === undefined) return;
    await this.verify(member, this.expectedChainId, signal);
  }

  private async verify(
    member: Member,
    expected: number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { endpoint } = member;
    const { results } = await endpoint.batch([{ method: 'eth_chainId', params: [] }], signal);
    const actual = quantity(valueOf(results[0])) ?? NaN;
    if (actual !== expected) throw new ChainMismatchError(endpoint.name, expected, actual);
    member.verified = true;
  }
}

function sleepFor(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}
