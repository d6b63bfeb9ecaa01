const LINE_EVERY_MS = 2000;

/** Reports progress every two seconds, and nothing for work that takes less. */
export class Progress {
  #lineAtMs = performance.now();
  readonly #startMs = performance.now();

  constructor(
    readonly what: string,
    private readonly all: number,
  ) {}

  at(done: number): void {
    const now = performance.now();
    if (now - this.#lineAtMs < LINE_EVERY_MS) return;
    this.#lineAtMs = now;
    const seconds = (now - this.#startMs) / 1000;
    const left = done > 0 ? `, ${Math.ceil((seconds / done) * (this.all - done))} s left` : '';
    say(`  ${this.what}: ${Math.floor((100 * done) / this.all)} %${left}`);
  }
}

/** Writes progress to standard error, since standard output is for the figures. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
