import { type RedemptionHints } from '#libs/db';
import { type Logger } from '#libs/platform';
import { type QueuePump } from './queue-pump.js';

type HintListener = ConstructorParameters<typeof RedemptionHints>[1];

export interface EngineMachinery {
  // What the pieces of work are is no concern of the engine's.
  readonly pumps: readonly Pick<QueuePump<never>, 'wake' | 'drain' | 'stop' | 'idleSeconds'>[];
  readonly pollMs: number;
  readonly logger: Logger;
  readonly hints?: (listener: HintListener) => Pick<RedemptionHints, 'start' | 'stop'>;
  readonly onStopping: () => void;
}

/** Hints come with every transition that leaves something to do; so many of them are answered with one look. */
const HINT_REST_MS = 20;

/** States: idle, running (sweeps by its interval and by hints), stopped for good. */
export class Engine {
  private readonly hints: Pick<RedemptionHints, 'start' | 'stop'> | undefined;
  private interval: NodeJS.Timeout | undefined;
  private hinted: NodeJS.Timeout | undefined;
  private listening: Promise<void> = Promise.resolve();

  constructor(private readonly machinery: EngineMachinery) {
    this.hints = machinery.hints?.({
      onHint: () => {
        this.hinted ??= setTimeout(() => {
          this.hinted = undefined;
          this.wake();
        }, HINT_REST_MS);
      },
      onLost: (error) => {
        machinery.logger.warn({ reason: error.message }, 'Hints were lost; sweeps go on');
      },
    });
  }

  /** @returns the interval that drives the sweeps */
  start(): NodeJS.Timeout {
    this.interval ??= setInterval(() => {
      this.listen();
      this.wake();
    }, this.machinery.pollMs);
    this.listen();
    this.wake();
    return this.interval;
  }

  /** Something may be due. */
  wake(): void {
    for (const pump of this.machinery.pumps) pump.wake();
  }

  /** Does all that is due, and what becomes due by it, and awaits it; for a clock that is moved by hand. */
  async sweep(): Promise<number> {
    let done = 0;
    for (let found = -1; found !== 0; done += found) {
      found = 0;
      for (const pump of this.machinery.pumps) found += await pump.drain();
    }
    return done;
  }

  /** How long the queue that was swept least recently has waited. */
  get idleSeconds(): number {
    return Math.max(...this.machinery.pumps.map((pump) => pump.idleSeconds));
  }

  /** Lets the calls under way end, and gives back the leases of what waits. */
  async stop(): Promise<void> {
    clearInterval(this.interval);
    this.machinery.onStopping();
    await this.listening;
    await this.hints?.stop();
    clearTimeout(this.hinted);
    await Promise.all(this.machinery.pumps.map((pump) => pump.stop()));
  }

  /** Again where the connection was lost; without it the sweeps find the work a little later. */
  private listen(): void {
    if (this.hints === undefined) return;
    this.listening = this.hints.start().catch((error: unknown) => {
      this.machinery.logger.warn({ err: error }, 'No hints; sweeps go on');
    });
  }
}
