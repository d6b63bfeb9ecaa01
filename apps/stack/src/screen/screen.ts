import { type Clock } from '#libs/platform';

const PROGRESS_EVERY_MS = 2_000;

/** What the person at the keyboard sees: plain lines, each with the seconds since the start and the part it is about. */
export class Screen {
  readonly #startedMs: number;
  readonly #shownMs = new Map<string, number>();

  constructor(
    private readonly clock: Clock,
    private readonly write: (line: string) => void,
  ) {
    this.#startedMs = clock.nowMs();
  }

  /** A step that is done, or begins and takes time. */
  step(part: string, text: string): void {
    const nowMs = this.clock.nowMs();
    this.#shownMs.set(part, nowMs);
    const seconds = ((nowMs - this.#startedMs) / 1000).toFixed(1).padStart(6);
    this.write(`${seconds} s  ${part.padEnd(12)}${text}`);
  }

  /** How far a step is; shown at most every two seconds. */
  progress(part: string, text: () => string): void {
    const nowMs = this.clock.nowMs();
    const shownMs = this.#shownMs.get(part);
    if (shownMs === undefined) this.#shownMs.set(part, nowMs);
    else if (nowMs - shownMs >= PROGRESS_EVERY_MS) this.step(part, text());
  }

  /** Text as it is. */
  lines(...lines: readonly string[]): void {
    for (const line of lines) this.write(line);
  }
}

/** 12345 as `12,345`. */
export function grouped(value: number | bigint): string {
  return value.toLocaleString('en-US');
}
