import { createHash } from 'node:crypto';
import { type Address, parseAddress } from '#libs/domain';

/** The same numbers for the same seed on every machine (xorshift32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 1;
  }

  /** 0 to just below 1. */
  next(): number {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    return (this.#state >>> 0) / 2 ** 32;
  }

  /** A whole number, both ends included. */
  between(lowest: number, highest: number): number {
    return lowest + Math.floor(this.next() * (highest - lowest + 1));
  }
}

/** The address of wallet number so and so: spread over the address space as real ones are. */
export function walletAt(index: number): Address {
  const address = parseAddress(
    `0x${createHash('sha256').update(`${index}`).digest('hex').slice(0, 40)}`,
  );
  if (!address) throw new Error('40 hex digits are an address');
  return address;
}
