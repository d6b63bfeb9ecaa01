interface Closer {
  readonly name: string;
  readonly close: () => Promise<void>;
}

/** What has to be undone at the end, in the reverse order of its beginning. */
export class Closers {
  readonly #open: Closer[] = [];
  readonly #late: Promise<void>[] = [];
  #closing = false;

  constructor(private readonly onFault: (name: string, error: unknown) => void) {}

  /** What is added after the end has begun is closed at once. */
  add(name: string, close: () => Promise<void>): void {
    if (this.#closing) this.#late.push(this.#close({ name, close }));
    else this.#open.push({ name, close });
  }

  /** Closes everything, one after the other; what fails is reported and does not keep the rest from being closed. */
  async closeAll(): Promise<void> {
    this.#closing = true;
    for (let next = this.#open.pop(); next !== undefined; next = this.#open.pop()) {
      await this.#close(next);
    }
    await this.late();
  }

  /** Waits for what was added since. */
  async late(): Promise<void> {
    await Promise.all(this.#late);
  }

  async #close({ name, close }: Closer): Promise<void> {
    try {
      await close();
    } catch (error) {
      this.onFault(name, error);
    }
  }
}
