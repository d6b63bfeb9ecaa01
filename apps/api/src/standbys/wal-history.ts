interface Sample {
  /** Before the primary was asked. */
  readonly atMs: number;
  /** The how manieth question it was. */
  readonly number: number;
  readonly bytes: bigint;
}

/**
 * How far the primary's log was at moments of the near past. A standby that has replayed up to such a position has all that was committed
 * before that moment: its lag by our own clock, whatever the clocks of the servers say, and also while nothing is written.
 */
export class WalHistory {
  private samples: Sample[] = [];
  private asked = 0;

  /** @param keepMs how far back it reaches */
  constructor(private readonly keepMs: number) {}

  /** How many questions to the primary have begun. */
  get begun(): number {
    return this.asked;
  }

  /** When the primary was asked last and answered; undefined where it never did. */
  get heardAtMs(): number | undefined {
    return this.samples.at(-1)?.atMs;
  }

  /** A question to the primary begins. @returns what to call with the answer */
  ask(atMs: number): (bytes: bigint) => void {
    const number = ++this.asked;
    return (bytes) => {
      const last = this.samples.at(-1);
      // A clock that was put back, or another primary with a shorter log: what was measured before says nothing any more.
      if (last !== undefined && (last.atMs > atMs || last.bytes > bytes)) this.samples = [];
      this.samples.push({ atMs, number, bytes });
      const first = this.samples.findIndex((sample) => sample.atMs >= atMs - this.keepMs);
      this.samples.splice(0, first);
    };
  }

  /** The newest moment before which all that was committed is below the position; undefined where that is not known. */
  levelAt(bytes: bigint): number | undefined {
    return this.samples.findLast((sample) => sample.bytes <= bytes)?.atMs;
  }

  /** Whether the primary's log was shorter than the position at a question that began later: then that is another history. */
  isShorterThan(bytes: bigint, sinceQuestion: number): boolean {
    const last = this.samples.at(-1);
    return last !== undefined && last.number > sinceQuestion && last.bytes < bytes;
  }
}
