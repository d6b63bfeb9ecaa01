/** Bytes that may be hashed for one question; all mistakes of a message of usual size take a hundredth of them. */
const MOST_BYTES = 20_000_000;
/** Bytes hashed between two pauses, which takes a few milliseconds. */
const BYTES_AT_ONCE = 500_000;

/** The bytes that may still be hashed for one question, over all secrets that are tried for it. */
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

  /** Whether enough was hashed since the last pause to let other requests run. */
  isPauseDue(): boolean {
    if (this.left > this.nextPause) return false;
    this.nextPause = this.left - BYTES_AT_ONCE;
    return true;
  }
}
