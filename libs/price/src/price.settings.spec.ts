import { describe, expect, it } from '@jest/globals';
import { parseDecimal } from '#libs/domain';
import { fixedPrice, PRICE_BOUNDS_SETTING } from './price.settings.js';
import { parsePriceSources } from './price-source.js';

describe('fixedPrice', () => {
  it('is given if a fixed price is among the sources', () => {
    expect(fixedPrice(parsePriceSources('fixed:0.15')).isGiven).toBe(true);
    expect(fixedPrice([]).isGiven).toBe(false);
  });
});

describe('PRICE_BOUNDS_USD', () => {
  const parse = PRICE_BOUNDS_SETTING.parse as (text: string) => unknown;

  it.each(['0.05..5', ' 0.05 .. 5 ', '0.050..5.0'])(
    'is the lowest and the highest price: %j',
    (text) => {
      expect(parse(text)).toEqual({ min: parseDecimal('0.05'), max: parseDecimal('5') });
    },
  );

  it('may be one price', () => {
    expect(parse('1..1')).toEqual({ min: parseDecimal('1'), max: parseDecimal('1') });
  });

  it.each([
    ['0.05', 'must be the lowest and the highest price'],
    ['0.05..1..5', 'must be the lowest and the highest price'],
    ['0.05...5', 'the highest price'],
    ['5..0.05', 'must have the lowest price first'],
    ['0..5', 'the lowest price'],
    ['-1..5', 'the lowest price'],
    ['0.05..', 'the highest price'],
    ['..5', 'the lowest price'],
    ['0.05..NaN', 'the highest price'],
    ['0.05..1e999', 'the highest price'],
  ])('refuses %s', (text, reason) => {
    expect(() => parse(text)).toThrow(reason);
  });
});
