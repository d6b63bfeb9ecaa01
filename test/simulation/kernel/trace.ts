import { createHash } from 'node:crypto';

/** What happened in a run, in lines for a person. Two runs of one seed have the same lines. */
export class Trace {
  private readonly events: { readonly elapsedMs: number; readonly what: string }[] = [];

  add(elapsedMs: number, what: string): void {
    this.events.push({ elapsedMs, what });
  }

  get lines(): string[] {
    return this.events.map(({ elapsedMs, what }, place) => {
      const seconds = (elapsedMs / 1000).toFixed(3).padStart(10);
      return `${String(place + 1).padStart(4)} ${seconds} s  ${what}`;
    });
  }

  /** SHA-256 of all lines, as hex digits. */
  hash(): string {
    return createHash('sha256').update(this.lines.join('\n')).digest('hex');
  }
}
