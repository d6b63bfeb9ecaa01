import { randomFrom } from '#libs/testing/seeds';

/**
 * All decisions of a run. A seed draws them; a script of drawn values repeats them, and a shortened script makes a
 * simpler run. Each topic has a stream of its own, so that what is removed from one stream does not shift the others.
 * In every choice, 0 is the plainest value: no fault, the oldest call, the smallest size.
 */
export type Script = Readonly<Record<string, readonly number[]>>;

export class Choices {
  private readonly streams = new Map<string, Stream>();

  /** @param script the values to repeat; beyond its end every choice is 0. Absent: the seed draws. */
  constructor(
    readonly seed: number,
    private readonly script?: Script,
  ) {}

  /** A whole number from 0 to below `below`. */
  int(stream: string, below: number): number {
    return this.stream(stream).next(below);
  }

  /** A whole number between both bounds, inclusive; the lowest is the plainest. */
  between(stream: string, lowest: number, highest: number): number {
    return lowest + this.int(stream, highest - lowest + 1);
  }

  /** True in `perMille` of 1,000 cases; false is the plainest. */
  chance(stream: string, perMille: number): boolean {
    return perMille > 0 && this.int(stream, 1000) >= 1000 - perMille;
  }

  /** The first item is the plainest. */
  pick<T>(stream: string, items: readonly T[]): T {
    const item = items[this.int(stream, items.length)];
    if (item === undefined) throw new RangeError('nothing to pick from');
    return item;
  }

  /** The position of one of the whole weights, each with the probability of its share. */
  weighted(stream: string, weights: readonly number[]): number {
    let left = this.int(
      stream,
      weights.reduce((sum, weight) => sum + weight, 0),
    );
    return weights.findIndex((weight) => (left -= weight) < 0);
  }

  /** What was drawn so far. */
  drawn(): Script {
    return Object.fromEntries([...this.streams].map(([name, { drawn }]) => [name, drawn]));
  }

  private stream(name: string): Stream {
    let stream = this.streams.get(name);
    if (stream === undefined) {
      const script = this.script && (this.script[name] ?? []);
      stream = new Stream(seedOf(this.seed, name), script);
      this.streams.set(name, stream);
    }
    return stream;
  }
}

class Stream {
  readonly drawn: number[] = [];
  private readonly random: () => number;

  constructor(
    seed: number,
    private readonly script: readonly number[] | undefined,
  ) {
    this.random = randomFrom(seed);
  }

  next(below: number): number {
    const { script, drawn } = this;
    const value = script
      ? Math.min(script[drawn.length] ?? 0, below - 1)
      : Math.floor(this.random() * below);
    drawn.push(value);
    return value;
  }
}

/** FNV-1a over the name, mixed with the seed. */
export function seedOf(seed: number, name: string): number {
  let hash = 0x811c9dc5 ^ Math.imul(seed + 1, 0x9e3779b9);
  for (let at = 0; at < name.length; at++) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return hash ^ (hash >>> 13);
}
