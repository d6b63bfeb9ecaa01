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

/** The word that `mix32` maps to this one. */
function unmix32(mixed: number): number {
  let word = mixed ^ (mixed >>> 16);
  word = Math.imul(word, 0x7ed1b41d);
  word ^= (word >>> 13) ^ (word >>> 26);
  word = Math.imul(word, 0xa5cb9243);
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

/** @returns the number of an address with this salt, below 2 ** 32; undefined where this is no such address */
export function numberOfAddress(salt: number, address: string): number | undefined {
  const first = parseInt(address.slice(2, 10), 16);
  if (address.length !== 42 || Number.isNaN(first)) return undefined;
  const key = (unmix32(first) - GOLDEN) >>> 0;
  const number = (unmix32(key) - mix32(salt)) >>> 0;
  return seededAddress(salt, number) === address ? number : undefined;
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
