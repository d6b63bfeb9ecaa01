/**
 * Reproducible chance: the same text gives the same numbers on every machine, whatever other dice were thrown in
 * between.
 */
import { createHash } from 'node:crypto';

export class Dice {
  #state: number;

  /** @param name the run's seed, and the purpose */
  constructor(private readonly name: string) {
    this.#state = createHash('sha256').update(name).digest().readUInt32LE(0);
  }

  /** Separate dice for a part; throwing those does not change these. */
  for(part: string | number): Dice {
    return new Dice(`${this.name}/${part}`);
  }

  /** A number from 0 to just below 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number, both bounds included. */
  between(lowest: number, highest: number): number {
    return lowest + Math.floor(this.next() * (highest - lowest + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(choices: readonly T[]): T {
    const choice = choices[this.between(0, choices.length - 1)];
    if (choice === undefined) throw new Error('there is nothing to pick from');
    return choice;
  }

  some<T>(choices: readonly T[], probability = 0.5): T[] {
    return choices.filter(() => this.chance(probability));
  }
}
