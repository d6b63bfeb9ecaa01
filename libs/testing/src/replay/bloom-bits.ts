import { type Hex, keccak256 } from 'viem';

/** The three bits that an address or topic sets in a 2048-bit bloom (Ethereum Yellow Paper, section 4.3.1). */
export type BloomTriple = readonly [number, number, number];

const cache = new Map<string, BloomTriple>();

/** @param item 20 or 32 bytes, lower-case hex */
export function bloomTriple(item: string): BloomTriple {
  const known = cache.get(item);
  if (known) return known;
  const digest = keccak256(item as Hex);
  const bit = (at: number): number => parseInt(digest.slice(2 + at * 4, 6 + at * 4), 16) & 2047;
  const triple = [bit(0), bit(1), bit(2)] as const;
  cache.set(item, triple);
  return triple;
}

export class Bloom {
  readonly bytes = Buffer.alloc(256);

  add(item: string): void {
    // Bit 0 is the lowest bit of the last byte.
    for (const bit of bloomTriple(item)) {
      const at = 255 - (bit >>> 3);
      this.bytes[at] = (this.bytes[at] ?? 0) | (1 << (bit & 7));
    }
  }

  get text(): string {
    return `0x${this.bytes.toString('hex')}`;
  }
}
