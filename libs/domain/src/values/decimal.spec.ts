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

describe('parseDecimal', () => {
  it.each([
    ['0', 0n, 0],
    ['12', 12n, 0],
    ['0.0001', 1n, 4],
    ['-3.50', -350n, 2],
    ['1e-7', 1n, 7],
    ['1.5E3', 1500n, 0],
    ['2.5e1', 25n, 0],
    ['2.5e3', 2500n, 0],
    ['9'.repeat(400), BigInt('9'.repeat(400)), 0],
  ])('of %s', (text, digits, scale) => {
    expect(parseDecimal(text)).toEqual({ digits, scale });
  });

  it.each([
    ...['', ' 1', '1 ', '+1', '.5', '5.', '0x1', 'NaN', 'Infinity', '1e', '1e1000', '١'],
    '9'.repeat(401),
  ])('refuses %p', (text) => {
    expect(() => parseDecimal(text)).toThrow(
      expect.objectContaining({
        code: 'INVALID_DECIMAL',
        message: expect.stringContaining('Expected a decimal number such as 0.0001.'),
      }),
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
