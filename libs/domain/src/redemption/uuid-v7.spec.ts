import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { mintUuidV7, parseUuidV7, UUID_V7_RANDOM_BYTES, uuidV7Ms } from './uuid-v7.js';

const times = fc.integer({ min: 0, max: 2 ** 48 - 1 });
const chances = fc.uint8Array({ minLength: UUID_V7_RANDOM_BYTES, maxLength: UUID_V7_RANDOM_BYTES });

describe('UUIDv7', () => {
  it('is minted well-formed, tells its time, and sorts by it', () => {
    fc.assert(
      fc.property(times, chances, times, chances, (ms, random, otherMs, otherRandom) => {
        const id = mintUuidV7(ms, random);
        expect(parseUuidV7(id.toUpperCase())).toBe(id);
        expect(uuidV7Ms(id)).toBe(ms);
        const other = mintUuidV7(otherMs, otherRandom);
        if (ms < otherMs) expect(id < other).toBe(true);
      }),
    );
  });

  it('keeps 74 bits of chance', () => {
    const zeros = new Uint8Array(10);
    const ones = new Uint8Array(10).fill(255);
    expect(mintUuidV7(0, zeros)).toBe('00000000-0000-7000-8000-000000000000');
    expect(mintUuidV7(2 ** 48 - 1, ones)).toBe('ffffffff-ffff-7fff-bfff-ffffffffffff');
  });

  it('is that of RFC 9562, appendix A.6', () => {
    const id = parseUuidV7('017F22E2-79B0-7CC3-98C4-DC0C0C07398F');
    expect(id).toBe('017f22e2-79b0-7cc3-98c4-dc0c0c07398f');
    expect(id && uuidV7Ms(id)).toBe(1_645_557_742_000);
  });

  it.each([
    '',
    '017f22e2-79b0-4cc3-98c4-dc0c0c07398f',
    '017f22e2-79b0-7cc3-18c4-dc0c0c07398f',
    '017f22e279b07cc398c4dc0c0c07398f',
    ' 017f22e2-79b0-7cc3-98c4-dc0c0c07398f',
    '017f22e2-79b0-7cc3-98c4-dc0c0c07398f\n',
  ])('is not %p', (text) => {
    expect(parseUuidV7(text)).toBeUndefined();
  });

  it.each([
    [-1, 10],
    [1.5, 10],
    [NaN, 10],
    [2 ** 48, 10],
    [0, 9],
    [0, 16],
  ])('is not made of %s ms and %s bytes', (ms, bytes) => {
    expect(() => mintUuidV7(ms, new Uint8Array(bytes))).toThrow(
      expect.objectContaining({ code: 'INVALID_UUID_SOURCE' }),
    );
  });
});
