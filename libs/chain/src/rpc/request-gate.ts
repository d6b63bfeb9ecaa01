import { type PoolTime } from './pool-time.js';
import { type Load, type Outcome, type Rate, type Ticket } from './rate.js';

/** Lets requests pass in the order of their arrival, as fast as the rate allows. */
export class RequestGate {
  private queue: Promise<unknown> = Promise.resolve();
  /** Wakes the request that waits until another one ends. */
  private wake: (() => void) | undefined;

  constructor(
    private readonly rate: Rate,
    private readonly time: PoolTime,
  ) {}

  /**
   * Rejects with the reason of `signal`, also while other requests are ahead.
   * @param mayAsk checked before each step; false ends the wait
   * @returns the ticket to pass to `leave`; undefined if the request may no longer be sent
   */
  enter(load: Load, mayAsk: () => boolean, signal: AbortSignal): Promise<Ticket | undefined> {
    // A signal that is aborted already fires no event.
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    const turn = this.queue.then(() => this.admit(load, mayAsk, signal));
    this.queue = turn.catch(() => undefined);
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', abort, { once: true });
      turn
        .then((ticket) => {
          // Admitted too late: the caller has gone.
          if (signal.aborted && ticket) this.leave(ticket, undefined);
          resolve(ticket);
        }, reject)
        .finally(() => {
          signal.removeEventListener('abort', abort);
        });
    });
  }

  /** Counts a request that does not wait for its turn: later ones wait instead. @returns the ticket to pass to `leave` */
  pass(load: Load): Ticket {
    return this.rate.start(load, this.time.nowMs());
  }

  leave(ticket: Ticket, outcome: Outcome | undefined): void {
    this.rate.end(ticket, outcome, this.time.nowMs());
    this.wake?.();
  }

  private async admit(
    load: Load,
    mayAsk: () => boolean,
    signal: AbortSignal,
  ): Promise<Ticket | undefined> {
    const { rate, time } = this;
    for (;;) {
      signal.throwIfAborted();
      if (!mayAsk()) return undefined;
      const waitMs = rate.waitMs(load, time.nowMs());
      if (waitMs === 0) return rate.start(load, time.nowMs());
      if (waitMs < Infinity) await time.sleep(waitMs, signal);
      else await this.untilOneEnds(signal);
    }
  }

  private untilOneEnds(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        signal.removeEventListener('abort', done);
        this.wake = undefined;
        resolve();
      };
      this.wake = done;
      signal.addEventListener('abort', done, { once: true });
    });
  }
}
