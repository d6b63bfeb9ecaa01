/**
 * Reproducible chance: the same text gives the same numbers on every machine, whatever other dice were thrown in
 * between.
 */
import { createHash } from 'node:crypto';
import { randomFrom } from '#libs/testing/seeds';

export class Dice {
  readonly #random: () => number;

  /** @param name the run's seed, and the purpose */
  constructor(private readonly name: string) {
    this.#random = randomFrom(createHash('sha256').update(name).digest().readUInt32LE(0));
  }

  /** Separate dice for a part; throwing those does not change these. */
  for(part: string | number): Dice {
    return new Dice(`${this.name}/${part}`);
  }

  /** A number from 0 to below 1. */
  next(): number {
    return this.#random();
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
