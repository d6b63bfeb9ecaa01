import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseDecimal } from '#libs/domain';
import { isWithinShare, plainPrice, scaledPrice } from './plain-price.js';
import { holdReason, type PriceLimits } from './price-limits.js';

const d = parseDecimal;
const LIMITS: PriceLimits = {
  maxChange: d('0.2'),
  isOwn: false,
};
const BOUNDED = { ...LIMITS, bounds: { min: d('0.1'), max: d('1') } };

interface Before {
  readonly before?: string;
  readonly lowest?: string;
  readonly highest?: string;
  readonly accepted?: string;
}

function reasonFor(price: string, standing: Before, limits: PriceLimits = LIMITS) {
  const entries = Object.entries(standing) as [string, string][];
  const decimals = entries.map(([name, text]) => [name, d(text)]);
  return holdReason(d(price), limits, Object.fromEntries(decimals));
}

describe('holdReason', () => {
  it.each<[string, string, [Before, PriceLimits], string | undefined]>([
    ['a price as before', '0.15', [{ before: '0.15' }, LIMITS], undefined],
    ['a thousandth', '0.00015', [{ before: '0.15' }, LIMITS], 'jump'],
    ['a thousandfold', '150', [{ before: '0.15' }, LIMITS], 'jump'],
    ['a fall to the limit', '0.12', [{ before: '0.15' }, LIMITS], undefined],
    ['a fall beyond it', '0.1199999999', [{ before: '0.15' }, LIMITS], 'jump'],
    ['a rise to the limit', '0.18', [{ before: '0.15' }, LIMITS], undefined],
    ['a rise beyond it', '0.180000000001', [{ before: '0.15' }, LIMITS], 'jump'],
    ['many digits', '1e-30', [{ before: '1.1e-30' }, LIMITS], undefined],
    [
      'a drift down',
      '0.12',
      [{ before: '0.13', highest: '0.21', lowest: '0.13' }, LIMITS],
      'drift',
    ],
    ['a drift up', '0.21', [{ before: '0.19', highest: '0.19', lowest: '0.149' }, LIMITS], 'drift'],
    ['an hour to the limit', '0.21', [{ before: '0.19', lowest: '0.15' }, LIMITS], undefined],
    ['the first of all', '0.15', [{}, LIMITS], 'first'],
    ['the first of all, own', '0.15', [{}, { ...LIMITS, isOwn: true }], undefined],
    [
      'far from the one before, own',
      '15',
      [{ before: '0.15' }, { ...LIMITS, isOwn: true }],
      undefined,
    ],
    ['the first of all within the bounds', '0.15', [{}, BOUNDED], undefined],
    ['the first of all below', '0.00015', [{}, BOUNDED], 'below-minimum'],
    ['the minimum', '0.1', [{ before: '0.11' }, BOUNDED], undefined],
    ['below the minimum', '0.0999999', [{ before: '0.11' }, BOUNDED], 'below-minimum'],
    ['the maximum', '1', [{ before: '0.9' }, BOUNDED], undefined],
    ['above the maximum', '1.0000001', [{ before: '0.9' }, BOUNDED], 'above-maximum'],
    ['what was accepted', '0.05', [{ before: '0.05', accepted: '0.05' }, BOUNDED], undefined],
    [
      'between it and the bound',
      '0.09',
      [{ before: '0.08', accepted: '0.05' }, BOUNDED],
      undefined,
    ],
    ['beyond it', '0.0499', [{ before: '0.05', accepted: '0.05' }, BOUNDED], 'below-minimum'],
    ['what was accepted above', '2', [{ before: '2', accepted: '2' }, BOUNDED], undefined],
    ['beyond that', '2.01', [{ before: '2', accepted: '2' }, BOUNDED], 'above-maximum'],
    [
      'below the minimum, accepted inside',
      '0.099',
      [{ before: '0.11', accepted: '0.11' }, BOUNDED],
      'below-minimum',
    ],
    [
      'below the minimum, accepted at it',
      '0.099',
      [{ before: '0.1', accepted: '0.1' }, BOUNDED],
      'below-minimum',
    ],
    [
      'above the maximum, accepted inside',
      '1.01',
      [{ before: '0.9', accepted: '0.9' }, BOUNDED],
      'above-maximum',
    ],
    [
      'below the minimum, accepted above the maximum',
      '0.09',
      [{ before: '0.1', accepted: '2' }, BOUNDED],
      'below-minimum',
    ],
    [
      'accepted before, a jump now',
      '0.05',
      [{ before: '0.15', accepted: '0.05' }, BOUNDED],
      'jump',
    ],
  ])('%s', (_name, price, given, expected) => {
    expect(reasonFor(price, ...given)).toBe(expected);
  });

  it('lets a slow drift go no further than the bounds, and an hour no further than its share', () => {
    let price = 1000;
    const hour: number[] = [price];
    let reason: string | undefined;
    // A change of 15 % in one reading is no jump.
    for (let minute = 0; reason === undefined && minute < 60; minute++) {
      price *= 0.85;
      const text = (value: number): string => value.toFixed(12);
      const before = text(hour.at(-1) ?? 0);
      const [lowest, highest] = [text(Math.min(...hour)), text(Math.max(...hour))];
      reason = reasonFor(text(price), { before, lowest, highest });
      if (reason === undefined) hour.push(price);
    }
    expect(reason).toBe('drift');
    expect(Math.min(...hour)).toBeGreaterThanOrEqual(600);
  });
});

describe('isWithinShare', () => {
  it('agrees with exact fractions', () => {
    const price = fc.record({
      digits: fc.bigInt(1n, 10n ** 20n),
      scale: fc.integer({ min: 0, max: 12 }),
    });
    fc.assert(
      fc.property(price, price, (one, base) => {
        // |a/10^s - b/10^t| <= 1/4 x b/10^t, all times 4 x 10^(s+t).
        const a = one.digits * 10n ** BigInt(base.scale) * 4n;
        const b = base.digits * 10n ** BigInt(one.scale) * 4n;
        const expected = (a > b ? a - b : b - a) * 4n <= b;
        expect(isWithinShare(one, base, d('0.25'))).toBe(expected);
      }),
    );
  });
});

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
