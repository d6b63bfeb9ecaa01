import { type Clock } from '#libs/platform';
import { type Screen } from '../screen/screen.js';

const FIRST_PROGRESS_MS = 2_000;
const NEXT_PROGRESS_MS = 8_000;

/** What happened when, a line each, as it happens. */
export class Timeline {
  #shownMs: number;
  #progressMs = FIRST_PROGRESS_MS;

  constructor(
    private readonly screen: Screen,
    private readonly clock: Clock,
    title: string,
  ) {
    this.#shownMs = clock.nowMs();
    screen.lines(`  ${title}`, '');
  }

  event(stage: string, text: string): void {
    this.#progressMs = FIRST_PROGRESS_MS;
    this.#line(stage, text);
  }

  /** What is being waited for; shown where nothing else was for two seconds, then more and more rarely. */
  waiting(text: () => string): void {
    if (this.clock.nowMs() - this.#shownMs < this.#progressMs) return;
    this.#progressMs =
      this.#progressMs === FIRST_PROGRESS_MS ? NEXT_PROGRESS_MS : this.#progressMs * 2;
    this.#line('…', text());
  }

  end(): void {
    this.screen.lines('');
  }

  #line(stage: string, text: string): void {
    this.#shownMs = this.clock.nowMs();
    this.screen.lines(`    ${timeOf(this.#shownMs)}  ${stage.padEnd(12)}${text}`);
  }
}

/** `08:15:00`, UTC. */
export function timeOf(ms: number): string {
  return new Date(ms).toISOString().slice(11, 19);
}
