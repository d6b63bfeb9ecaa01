import { describe, expect, it } from '@jest/globals';
import { bloomBits, bloomOf, isWithin, mayContain } from './blooms.js';

const POSITIVE = ['testtest', 'test', 'hallo', 'other'];
const NEGATIVE = ['tes', 'lo'];
const hex = (text: string): `0x${string}` => `0x${Buffer.from(text).toString('hex')}`;

describe('blooms', () => {
  const bloom = bloomOf(POSITIVE.map((text) => bloomBits(hex(text))));

  it('hold what went in and, nearly always, nothing else', () => {
    for (const text of POSITIVE) expect(mayContain(bloom, bloomBits(hex(text)))).toBe(true);
    for (const text of NEGATIVE) expect(mayContain(bloom, bloomBits(hex(text)))).toBe(false);
  });

  it('sets three bits an item at most, most significant first', () => {
    // Ethereum Yellow Paper, M3:2048; keccak256 of the empty text begins c5d2 4601 86f7.
    const bits = [0xc5d2, 0x4601, 0x86f7].map((pair) => pair & 2047);
    const expected = bits.reduce((sum, bit) => sum | (1n << BigInt(bit)), 0n);
    expect(BigInt(bloomOf([bloomBits('0x')]))).toBe(expected);
  });

  it('knows a part from the whole', () => {
    const part = bloomOf([bloomBits(hex('hallo'))]);
    expect(isWithin(part, bloom)).toBe(true);
    expect(isWithin(bloom, part)).toBe(false);
  });
});
