import { type PoolTime } from './pool-time.js';
import { type Load, type Throttle, type ThrottledOutcome, type Ticket } from './throttle.js';

export interface GateOptions {
  readonly throttle: Throttle;
  readonly time: PoolTime;
  /** The endpoint may be asked with one request only, which tries it. */
  readonly onTrial: () => boolean;
}

/** Makes requests wait for what the throttle allows, in the order in which they came. */
export class RequestGate {
  private queue: Promise<unknown> = Promise.resolve();
  private released: (() => void) | undefined;

  constructor(private readonly options: GateOptions) {}

  /**
   * Rejects with the reason of `signal`, also while others are before it.
   * @param mayAsk asked before each step; false ends the waiting
   * @returns what `leave` wants back; undefined where the request may no longer be sent
   */
  enter(load: Load, mayAsk: () => boolean, signal: AbortSignal): Promise<Ticket | undefined> {
    const turn = this.queue.then(() => this.admit(load, mayAsk, signal));
    this.queue = turn.catch(() => undefined);
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', abort, { once: true });
      turn
        .then((ticket) => {
          if (signal.aborted && ticket) this.leave(ticket, undefined);
          resolve(ticket);
        }, reject)
        .finally(() => {
          signal.removeEventListener('abort', abort);
        });
    });
  }

  leave(ticket: Ticket, outcome: ThrottledOutcome | undefined): void {
    this.options.throttle.end(ticket, outcome, this.options.time.nowMs());
    this.released?.();
  }

  private async admit(
    load: Load,
    mayAsk: () => boolean,
    signal: AbortSignal,
  ): Promise<Ticket | undefined> {
    const { throttle, time, onTrial } = this.options;
    for (;;) {
      signal.throwIfAborted();
      if (!mayAsk()) return undefined;
      const waitMs = throttle.waitMs(load, time.nowMs(), onTrial() ? 1 : undefined);
      if (waitMs === 0) return throttle.start(load, time.nowMs());
      if (waitMs < Infinity) await time.sleep(waitMs, signal);
      else await this.release(signal);
    }
  }

  /** Until a request has ended. */
  private release(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        signal.removeEventListener('abort', done);
        this.released = undefined;
        resolve();
      };
      this.released = done;
      signal.addEventListener('abort', done, { once: true });
    });
  }
}
