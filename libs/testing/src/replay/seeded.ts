/**
 * Deterministic numbers, hashes and addresses of a synthetic chain. The same seed gives the same values on every
 * machine.
 */
import { type Address } from '#libs/domain';

const GOLDEN = 0x9e3779b9;
const HEX16 = Array.from({ length: 65_536 }, (_, value) => value.toString(16).padStart(4, '0'));

/** Mixes the bits of a 32-bit word (the finaliser of MurmurHash3). */
export function mix32(value: number): number {
  let word = value;
  word = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  word = Math.imul(word ^ (word >>> 13), 0xc2b2ae35);
  return (word ^ (word >>> 16)) >>> 0;
}

function word(key: number, at: number): number {
  return mix32(key + Math.imul(at + 1, GOLDEN));
}

function hexOf(value: number): string {
  return (HEX16[value >>> 16] ?? '') + (HEX16[value & 0xffff] ?? '');
}

function hexWords(key: number, words: number): string {
  let text = '0x';
  for (let at = 0; at < words; at++) text += hexOf(word(key, at));
  return text;
}

/** 32 bytes derived from a number; `salt` separates the kinds of values. */
export function seededHash(salt: number, number: number): string {
  return hexWords(mix32(mix32(salt) + number), 8);
}

export function seededAddress(salt: number, number: number): Address {
  return hexWords(mix32(mix32(salt) + number), 5) as Address;
}

/**
 * The hash of a block: seven words derived from the seed and the number, then the masked number itself, so that the
 * number can be read from the hash.
 */
export function blockHash(seed: number, number: number): string {
  const key = mix32(mix32(seed) + number);
  return hexWords(key, 7) + hexOf((number ^ word(key, 0)) >>> 0);
}

/** @returns undefined where this is not the hash of a block with this seed */
export function blockOfHash(seed: number, hash: string): number | undefined {
  if (hash.length !== 66) return undefined;
  const number = (parseInt(hash.slice(58), 16) ^ parseInt(hash.slice(2, 10), 16)) >>> 0;
  return blockHash(seed, number) === hash ? number : undefined;
}

/** A xorshift32 generator. */
export class SeededRandom {
  private state: number;

  constructor(seed: number) {
    this.state = mix32(seed + GOLDEN) | 1;
  }

  /** A number from 0 to just below 1. */
  next(): number {
    this.state ^= this.state << 13;
    this.state ^= this.state >>> 17;
    this.state ^= this.state << 5;
    return (this.state >>> 0) / 2 ** 32;
  }

  /** A whole number between both bounds, inclusive. */
  between(lowest: number, highest: number): number {
    return lowest + Math.floor(this.next() * (highest - lowest + 1));
  }
}
