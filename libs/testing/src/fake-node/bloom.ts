import { type Hex, keccak256 } from 'viem';

const known = new Map<string, readonly number[]>();

/**
 * The three bits that an address or topic sets in a 2048-bit bloom (Ethereum Yellow Paper, section 4.3.1).
 * @param item 20 or 32 bytes, lower-case hex
 */
function bitsOf(item: string): readonly number[] {
  let bits = known.get(item);
  if (bits === undefined) {
    const digest = keccak256(item as Hex);
    bits = [0, 1, 2].map((at) => parseInt(digest.slice(2 + at * 4, 6 + at * 4), 16) & 2047);
    known.set(item, bits);
  }
  return bits;
}

export class Bloom {
  private readonly bytes = Buffer.alloc(256);

  add(item: string): void {
    // Bit 0 is the lowest bit of the last byte.
    for (const bit of bitsOf(item)) {
      const at = 255 - (bit >>> 3);
      this.bytes[at] = (this.bytes[at] ?? 0) | (1 << (bit & 7));
    }
  }

  get text(): string {
    return `0x${this.bytes.toString('hex')}`;
  }
}
