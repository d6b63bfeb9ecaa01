import { createHash } from 'node:crypto';
import { type Address, parseAddress } from '#libs/domain';

/** A generator with the same numbers for the same seed on every machine (xorshift32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 1;
  }

  /** A number from 0 to just below 1. */
  next(): number {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    return (this.#state >>> 0) / 2 ** 32;
  }

  /** A whole number between both bounds, inclusive. */
  between(lowest: number, highest: number): number {
    return lowest + Math.floor(this.next() * (highest - lowest + 1));
  }
}

/** The address of the wallet with this number, spread over the address space like real addresses. */
export function walletAt(index: number): Address {
  const address = parseAddress(
    `0x${createHash('sha256').update(`${index}`).digest('hex').slice(0, 40)}`,
  );
  if (!address) throw new Error('40 hex digits are an address');
  return address;
}
