import { keccak256 } from 'viem/utils';

/**
 * The three bits that an address or topic sets in a block's 2048-bit bloom (Ethereum Yellow Paper, section 4.3.1), as places in
 * the bloom's hex text.
 */
export interface BloomBits {
  /** Indexes into the text, `0x` included. */
  readonly digits: readonly number[];
  /** One bit of each digit. */
  readonly masks: readonly number[];
}

export function bloomBits(item: `0x${string}`): BloomBits {
  const digest = keccak256(item);
  const bits = [0, 1, 2].map(
    (pair) => parseInt(digest.slice(2 + pair * 4, 6 + pair * 4), 16) & 2047,
  );
  return {
    // The bloom is written most significant bit first: bit 0 is in the last digit.
    digits: bits.map((bit) => 2 + 511 - (bit >> 2)),
    masks: bits.map((bit) => 1 << (bit & 3)),
  };
}

/** @returns false: certainly not in the block; true: probably in it */
export function mayContain(bloom: string, bits: BloomBits): boolean {
  for (let at = 0; at < 3; at++) {
    const digit = hexDigit(bloom.charCodeAt(bits.digits[at] as number));
    if ((digit & (bits.masks[at] as number)) === 0) return false;
  }
  return true;
}

/** The bloom of a block with exactly these addresses and topics, as hex text. */
export function bloomOf(items: Iterable<BloomBits>): string {
  const digits = new Uint8Array(514);
  for (const bits of items) {
    for (let at = 0; at < 3; at++) {
      const place = bits.digits[at] as number;
      digits[place] = (digits[place] as number) | (bits.masks[at] as number);
    }
  }
  return `0x${Array.from(digits.subarray(2), (digit) => digit.toString(16)).join('')}`;
}

/** Whether every bit of `part` is in `whole`. */
export function isWithin(part: string, whole: string): boolean {
  for (let at = 2; at < part.length; at++) {
    if (hexDigit(part.charCodeAt(at)) & ~hexDigit(whole.charCodeAt(at))) return false;
  }
  return true;
}

function hexDigit(code: number): number {
  return code < 58 ? code - 48 : code - 87;
}
