/** What may be hashed for one question; with a common message every mistake is tried for a hundredth of it. */
const MOST_BYTES = 20_000_000;
/** Between two pauses: a few milliseconds. */
const BYTES_AT_ONCE = 500_000;

/** What is left for a question, whichever secrets it is asked of. */
export class HashBudget {
  private nextPause: number;

  constructor(private left = MOST_BYTES) {
    this.nextPause = left - BYTES_AT_ONCE;
  }

  get isSpent(): boolean {
    return this.left <= 0;
  }

  spend(bytes: number): void {
    this.left -= bytes;
  }

  /** Whether so much was hashed since the last pause that others have to have their turn. */
  isPauseDue(): boolean {
    if (this.left > this.nextPause) return false;
    this.nextPause = this.left - BYTES_AT_ONCE;
    return true;
  }
}
