/**
 * Which questions an endpoint answers validly, by the method that they begin with. An endpoint whose answers of one kind
 * are never valid may well answer the others. It is left out of questions with that method in their first request, as
 * long as another endpoint is not, and tried again every minute. The log says so once, and again only after it was valid
 * in between.
 */
import { EndpointLeftOutError, type RpcError } from './rpc.errors.js';
import { type PoolTime } from './pool-time.js';
import { type RpcObserver } from './rpc-observer.js';

/**
 * Invalid answers in a row after which an endpoint is left out: about as many as two questions find, so that one
 * question in the middle of a reorganisation is not enough.
 */
const MOST_INVALID = 8;
/** An endpoint that is left out is tried again after this time. */
const LEFT_OUT_MS = 60_000;

interface Invalid {
  inARow: number;
  error: RpcError;
  untilMs: number;
}

interface JudgedEndpoint {
  readonly name: string;
  isExcluded(nowMs: number): boolean;
}

export class AnswerValidity {
  /** By endpoint and method. */
  private readonly invalid = new Map<string, Invalid>();

  constructor(
    private readonly endpoints: readonly JudgedEndpoint[],
    private readonly context: { readonly time: PoolTime; readonly observer: RpcObserver },
  ) {}

  /** @throws EndpointLeftOutError if the endpoint is left out of questions with this method, and another one is not */
  requireNotLeftOut({ name }: JudgedEndpoint, method: string): void {
    const reason = this.reason(name, method);
    if (reason === undefined) return;
    const { nowMs } = this;
    const hasOther = this.endpoints.some(
      (one) =>
        one.name !== name && !one.isExcluded(nowMs) && this.reason(one.name, method) === undefined,
    );
    if (hasOther) throw new EndpointLeftOutError(method, reason);
  }

  noteValid({ name }: JudgedEndpoint, method: string): void {
    // While the endpoint is left out, an answer says nothing: it may have been asked for before.
    if (this.reason(name, method) !== undefined) return;
    const key = keyOf(name, method);
    const wasLeftOut = this.wasLeftOut(key);
    this.invalid.delete(key);
    if (!wasLeftOut) return;
    const message = `Its answers to ${method} are valid again: it is asked as before`;
    this.context.observer.warning({ endpoint: name, code: 'RPC_ENDPOINT_BACK', message });
  }

  noteInvalid({ name }: JudgedEndpoint, method: string, error: RpcError): void {
    const key = keyOf(name, method);
    const found = this.invalid.get(key);
    // Counted already: one answer may fail a request and then its question.
    if (found?.error === error) return;
    const inARow = (found?.inARow ?? 0) + 1;
    if (inARow >= MOST_INVALID) this.leaveOut(name, method, error);
    else this.invalid.set(key, { inARow, error, untilMs: 0 });
  }

  /** Leaves the endpoint out at once, or for longer. */
  leaveOut(endpoint: string, method: string, error: RpcError): void {
    const key = keyOf(endpoint, method);
    const wasLeftOut = this.wasLeftOut(key);
    const untilMs = this.nowMs + LEFT_OUT_MS;
    this.invalid.set(key, { inARow: MOST_INVALID, error, untilMs });
    if (wasLeftOut || this.endpoints.length < 2) return;
    const message = `Its answers to ${method} are not valid: it is left out, and tried again every minute. ${error.message}`;
    this.context.observer.warning({ endpoint, code: 'RPC_ENDPOINT_LEFT_OUT', message });
  }

  /** The endpoints that are left out of questions whose first request has this method. */
  leftOut(method: string): readonly string[] {
    const names = this.endpoints.map(({ name }) => name);
    const found = names.filter((name) => this.reason(name, method) !== undefined);
    return found.length === names.length ? [] : found;
  }

  /** Whether the endpoint was left out, and no valid answer has come since. */
  private wasLeftOut(key: string): boolean {
    return (this.invalid.get(key)?.inARow ?? 0) >= MOST_INVALID;
  }

  /** Why the endpoint is left out; undefined if it is not, or is to be tried again. */
  private reason(endpoint: string, method: string): RpcError | undefined {
    const found = this.invalid.get(keyOf(endpoint, method));
    return found && this.nowMs < found.untilMs ? found.error : undefined;
  }

  private get nowMs(): number {
    return this.context.time.nowMs();
  }
}

function keyOf(endpoint: string, method: string): string {
  return `${endpoint} ${method}`;
}
