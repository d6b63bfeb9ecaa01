/** After this time a read under way no longer holds up others: its connection may be stuck. */
const SLOW_MS = 100;

interface Batch<Q, A> {
  readonly questions: Q[];
  readonly answer: Promise<A>;
  readonly start: () => void;
}

/**
 * What is so now. Each read begins after the questions that it answers, so that nothing that was committed before is missed. All who
 * ask while a read is under way share the next one, so that reads are few however many ask.
 */
export class IndexNow<Q, A> {
  private next: Batch<Q, A> | undefined;
  private underWay = 0;
  private slowTimer: NodeJS.Timeout | undefined;

  /** @param source reads for all questions at once */
  constructor(private readonly source: (questions: readonly Q[]) => Promise<A>) {}

  /** @throws what the source throws */
  read(question: Q): Promise<A> {
    this.next ??= this.newBatch();
    this.next.questions.push(question);
    return this.next.answer;
  }

  private newBatch(): Batch<Q, A> {
    const questions: Q[] = [];
    let settle!: (answer: Promise<A>) => void;
    const answer = new Promise<A>((resolve) => (settle = resolve));
    const start = (): void => {
      this.next = undefined;
      this.underWay += 1;
      const reading = this.source(questions);
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
    return { questions, answer, start };
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
