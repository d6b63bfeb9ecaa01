import { type Screen } from './context.js';

const EVERY_MS = 10_000;

/** The services that are not ready yet: all of them on one line, and that at most every ten seconds. */
export class WaitingServices {
  private readonly reasons = new Map<string, string>();

  constructor(private readonly screen: Pick<Screen, 'progress'>) {}

  notReady(name: string, reason: string): void {
    this.reasons.set(name, reason);
    this.screen.progress('services', () => this.text(), EVERY_MS);
  }

  ready(name: string): void {
    this.reasons.delete(name);
  }

  /** Those with the same reason together. */
  private text(): string {
    const parts = [...new Set(this.reasons.values())].map((reason) => {
      const names = [...this.reasons].filter(([, own]) => own === reason).map(([name]) => name);
      return `${names.join(', ')} (${reason})`;
    });
    return `not ready yet: ${parts.join('; ')}`;
  }
}
