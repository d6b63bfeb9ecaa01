import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { compareDecimals, parseDecimal, smallestUnits, tokensText } from './decimal.js';

describe('tokensText', () => {
  it.each([
    [0n, 18, '0'],
    [1n, 18, '0.000000000000000001'],
    [340n * 10n ** 18n, 18, '340'],
    [1_500n, 3, '1.5'],
    [100n, 0, '100'],
    [7n, 77, `0.${'0'.repeat(76)}7`],
  ])('of %s with %s decimals is %s', (amount, decimals, expected) => {
    expect(tokensText(amount, decimals)).toBe(expected);
  });

  it('loses nothing', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 10n ** 78n }),
        fc.integer({ min: 0, max: 77 }),
        (amount, decimals) => {
          const text = tokensText(amount, decimals);
          expect(smallestUnits(parseDecimal(text), decimals)).toBe(amount);
        },
      ),
    );
  });
});

describe('compareDecimals', () => {
  it.each([
    ['1', '1.000', 0],
    ['0.1', '0.09', 1],
    ['99.99', '100', -1],
    ['-1', '0', -1],
    ['1e3', '999.999', 1],
  ])('of %s and %s is %s', (a, b, expected) => {
    expect(compareDecimals(parseDecimal(a), parseDecimal(b))).toBe(expected);
    expect(compareDecimals(parseDecimal(b), parseDecimal(a))).toBe(expected === 0 ? 0 : -expected);
  });
});
