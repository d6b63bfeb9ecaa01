import { type Deadline } from '#libs/platform';
import { callDeadline, CallStopped } from '../wire/deadline.js';

export interface ConcurrencyOptions {
  readonly maxAtOnce: number;
  readonly maxWaiting: number;
  readonly longestWaitMs: number;
}

type Waiting = () => void;

/** How many calls run at once; a bounded number of others wait their turn, in order and for a bounded time. */
export class ConcurrencyLimit {
  private running = 0;
  private readonly waiting = new Set<Waiting>();

  constructor(private readonly options: ConcurrencyOptions) {}

  /**
   * Waits for a place.
   * @returns gives the place back, to be called once; or why there is none
   */
  async enter(signal?: AbortSignal): Promise<(() => void) | 'too-many-calls' | 'aborted'> {
    if (signal?.aborted === true) return 'aborted';
    const { maxAtOnce, maxWaiting, longestWaitMs } = this.options;
    if (this.running < maxAtOnce) {
      this.running++;
      return this.leaver();
    }
    if (this.waiting.size >= maxWaiting) return 'too-many-calls';
    const deadline = callDeadline(longestWaitMs, signal);
    const isOurTurn = await this.turn(deadline);
    deadline.end();
    if (isOurTurn) return this.leaver();
    const reason: unknown = deadline.signal.reason;
    return reason instanceof CallStopped && reason.why === 'aborted' ? 'aborted' : 'too-many-calls';
  }

  /** A place is handed from the call that leaves to the one that waits longest, so that nobody can step in between. */
  private turn({ signal }: Deadline): Promise<boolean> {
    return new Promise((resolve) => {
      const onTurn = (): void => {
        resolve(true);
      };
      this.waiting.add(onTurn);
      signal.addEventListener('abort', () => {
        if (this.waiting.delete(onTurn)) resolve(false);
      });
    });
  }

  private leaver(): () => void {
    let hasLeft = false;
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      const [next] = this.waiting;
      if (next === undefined) {
        this.running--;
        return;
      }
      this.waiting.delete(next);
      next();
    };
  }
}
