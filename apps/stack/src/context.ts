import { type Clock } from '#libs/platform';
import { type StackFileStore } from './data/stack-file.js';
import { type StackSettings } from './stack.env.js';

export interface StackContext {
  readonly settings: StackSettings;
  readonly clock: Clock;
  readonly screen: Screen;
  readonly closers: Closers;
  readonly file: StackFileStore;
  /** Paths relative to the clone. */
  readonly paths: { readonly postgres: string; readonly chain: string; readonly logs: string };
  /** Aborts when the stack has to end, after a signal or the death of a part. */
  readonly signal: AbortSignal;
  /** Reports the death of a part; the first report ends the stack. */
  readonly reportDeath: (report: string) => void;
}

interface Closer {
  readonly name: string;
  readonly close: () => Promise<void>;
}

/** Cleanup steps, run in reverse order at the end. */
export class Closers {
  readonly #open: Closer[] = [];
  readonly #late: Promise<void>[] = [];
  #closing = false;

  constructor(private readonly onFault: (name: string, error: unknown) => void) {}

  /** Adds a cleanup step; once the end has begun, the step runs at once. */
  add(name: string, close: () => Promise<void>): void {
    if (this.#closing) this.#late.push(this.#close({ name, close }));
    else this.#open.push({ name, close });
  }

  /** Runs all steps, one after the other. A step that fails is reported and does not prevent the others. */
  async closeAll(): Promise<void> {
    this.#closing = true;
    for (let next = this.#open.pop(); next !== undefined; next = this.#open.pop()) {
      await this.#close(next);
    }
    await this.late();
  }

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

const PROGRESS_EVERY_MS = 2_000;

/** The output in the terminal: plain lines, each with the seconds since the start and the name of a part. */
export class Screen {
  readonly #startedMs: number;
  readonly #shownMs = new Map<string, number>();

  constructor(
    private readonly clock: Clock,
    private readonly write: (line: string) => void,
  ) {
    this.#startedMs = clock.nowMs();
  }

  step(part: string, text: string): void {
    const nowMs = this.clock.nowMs();
    this.#shownMs.set(part, nowMs);
    const seconds = ((nowMs - this.#startedMs) / 1000).toFixed(1).padStart(6);
    this.write(`${seconds} s  ${part.padEnd(12)}${text}`);
  }

  /** Shows the progress of a step, at most once per `everyMs`. */
  progress(part: string, text: () => string, everyMs = PROGRESS_EVERY_MS): void {
    const nowMs = this.clock.nowMs();
    const shownMs = this.#shownMs.get(part);
    if (shownMs === undefined) this.#shownMs.set(part, nowMs);
    else if (nowMs - shownMs >= everyMs) this.step(part, text());
  }

  lines(...lines: readonly string[]): void {
    for (const line of lines) this.write(line);
  }
}

const WAITING_EVERY_MS = 10_000;

/** The services that are not ready yet, on one line that is shown at most every ten seconds. */
export class WaitingServices {
  private readonly reasons = new Map<string, string>();

  constructor(private readonly screen: Screen) {}

  notReady(name: string, reason: string): void {
    this.reasons.set(name, reason);
    this.screen.progress('services', () => this.text(), WAITING_EVERY_MS);
  }

  ready(name: string): void {
    this.reasons.delete(name);
  }

  /** Lists services with the same reason together. */
  private text(): string {
    const parts = [...new Set(this.reasons.values())].map((reason) => {
      const names = [...this.reasons].filter(([, own]) => own === reason).map(([name]) => name);
      return `${names.join(', ')} (${reason})`;
    });
    return `not ready yet: ${parts.join('; ')}`;
  }
}

/** Formats 12345 as `12,345`. */
export function grouped(value: number | bigint): string {
  return value.toLocaleString('en-US');
}

interface RunningPart {
  readonly name: string;
  readonly stop: () => Promise<void>;
  readonly ended: Promise<unknown>;
  /** How the part ended, where the stack did not stop it. */
  readonly report: () => Promise<string>;
}

/** Stops the part with the stack. Where the part ends earlier, the stack ends too. */
export function keepRunning({ closers, reportDeath }: StackContext, part: RunningPart): void {
  let isStopping = false;
  closers.add(part.name, () => {
    isStopping = true;
    return part.stop();
  });
  void part.ended.then(async () => {
    if (!isStopping) reportDeath(await part.report());
  });
}
