import { type SnapshotState } from '#libs/db';

/** After this time a read under way no longer holds up others: its connection may be stuck. */
const SLOW_MS = 100;

interface Batch {
  readonly result: Promise<SnapshotState | undefined>;
  readonly start: () => void;
}

/**
 * The state of the index as of now. Its read begins after the request for it, so that nothing that was committed before is missed.
 * All who ask while a read is under way share the next one, so that reads are few however many ask.
 */
export class IndexNow {
  private next: Batch | undefined;
  private underWay = 0;
  private slowTimer: NodeJS.Timeout | undefined;

  constructor(private readonly source: () => Promise<SnapshotState | undefined>) {}

  /** Undefined where there is no index yet. @throws what the source throws */
  read(): Promise<SnapshotState | undefined> {
    this.next ??= this.newBatch();
    return this.next.result;
  }

  private newBatch(): Batch {
    let settle!: (state: Promise<SnapshotState | undefined>) => void;
    const result = new Promise<SnapshotState | undefined>((resolve) => (settle = resolve));
    const start = (): void => {
      this.next = undefined;
      this.underWay += 1;
      const reading = this.source();
      const done = (): void => {
        this.underWay -= 1;
        this.startNext();
      };
      reading.then(done, done);
      settle(reading);
    };
    // The rest of this turn of the event loop joins.
    if (this.underWay === 0) setImmediate(this.startIfStill, start);
    else this.slowTimer ??= setTimeout(this.startSlow, SLOW_MS);
    return { result, start };
  }

  private readonly startIfStill = (start: () => void): void => {
    if (this.next?.start === start) start();
  };

  private readonly startSlow = (): void => {
    this.slowTimer = undefined;
    this.next?.start();
  };

  private startNext(): void {
    clearTimeout(this.slowTimer);
    this.slowTimer = undefined;
    const { next } = this;
    if (next !== undefined) setImmediate(this.startIfStill, next.start);
  }
}
