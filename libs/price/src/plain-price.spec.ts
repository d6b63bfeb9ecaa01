import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { plainPrice, scaledPrice } from './plain-price.js';

describe('plainPrice', () => {
  it.each([
    ['1', '1'],
    ['007.50', '7.5'],
    ['0.1', '0.1'],
    ['1.5e3', '1500'],
    ['12E-3', '0.012'],
    ['1e+2', '100'],
    ['0.000000000000000000000000000000000001', '0.000000000000000000000000000000000001'],
  ])('%s is %s', (text, price) => {
    expect(plainPrice(text)).toEqual({ price });
  });

  it.each([
    ['0', 'is zero'],
    ['0.000', 'is zero'],
    ['0e5', 'is zero'],
    ['-0.1', 'is negative'],
    ['NaN', 'is not a decimal number'],
    ['Infinity', 'is not a decimal number'],
    ['1,5', 'is not a decimal number'],
    ['0x10', 'is not a decimal number'],
    ['', 'is not a decimal number'],
    ['1e16', 'is absurdly high'],
    ['1e-37', 'is absurdly precise'],
    [`0.${'1'.repeat(40)}`, 'is absurdly precise'],
    ['1'.repeat(101), 'is not a decimal number'],
  ])('%s %s', (text, refused) => {
    expect(plainPrice(text)).toEqual({ refused });
  });

  it('agrees with exact arithmetic for every scaled answer of a feed', () => {
    fc.assert(
      fc.property(fc.bigInt(1n, 10n ** 30n), fc.integer({ min: 0, max: 36 }), (digits, scale) => {
        const { price, refused } = { price: undefined, ...scaledPrice(digits, scale) };
        if (price === undefined) {
          expect(refused).toBe('is absurdly high');
          expect(digits / 10n ** BigInt(scale)).toBeGreaterThan(10n ** 15n - 1n);
          return;
        }
        const [whole = '', fraction = ''] = price.split('.');
        expect(BigInt(whole + fraction.padEnd(scale, '0'))).toBe(digits);
      }),
    );
  });
});
