interface Sample {
  /** Time before the primary was asked; Unix time in milliseconds. */
  readonly atMs: number;
  /** Ordinal of the question to the primary. */
  readonly number: number;
  readonly bytes: bigint;
}

/**
 * Positions of the primary's log at recent times. A standby that has replayed up to such a position has everything that
 * was committed before that time. The positions bound the standby's lag by this process's own clock, whatever the
 * clocks of the servers say, and even while nothing is written.
 */
export class WalHistory {
  private samples: Sample[] = [];
  private asked = 0;

  /** @param keepMs age of the oldest sample that is kept */
  constructor(private readonly keepMs: number) {}

  /** Number of questions to the primary that have begun. */
  get questionsBegun(): number {
    return this.asked;
  }

  /**
   * Time of the last question that the primary answered; Unix time in milliseconds. Undefined where no question was
   * answered.
   */
  get answeredAtMs(): number | undefined {
    return this.samples.at(-1)?.atMs;
  }

  /**
   * Notes that a question to the primary begins.
   * @returns the function to call with the answer
   */
  ask(atMs: number): (bytes: bigint) => void {
    const number = ++this.asked;
    return (bytes) => {
      const last = this.samples.at(-1);
      // The clock was set back, or another primary has a shorter log. Earlier samples do not count any more.
      if (last !== undefined && (last.atMs > atMs || last.bytes > bytes)) this.samples = [];
      this.samples.push({ atMs, number, bytes });
      const first = this.samples.findIndex((sample) => sample.atMs >= atMs - this.keepMs);
      this.samples.splice(0, first);
    };
  }

  /** The newest time before which everything committed lies below the position; undefined where it is unknown. */
  levelAt(bytes: bigint): number | undefined {
    return this.samples.findLast((sample) => sample.bytes <= bytes)?.atMs;
  }

  /**
   * Whether the primary's log was shorter than the position at a later question. The standby then replayed the log of
   * another primary.
   */
  isShorterThan(bytes: bigint, sinceQuestion: number): boolean {
    const last = this.samples.at(-1);
    return last !== undefined && last.number > sinceQuestion && last.bytes < bytes;
  }
}
