import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  formatAmount,
  formatDecimal,
  formatPoints,
  formatUsd,
  parsePoints,
  plainDecimal,
} from './amount.js';

describe('an amount', () => {
  it.each([
    ['340000000000000000000', 18, 'en-GB', '340'],
    ['1', 18, 'en-GB', '0.000000000000000001'],
    ['0', 18, 'en-GB', '0'],
    ['1234567890', 6, 'de-DE', '1.234,56789'],
    ['1234567890', 6, 'en-IN', '1,234.56789'],
    ['12', 0, 'en-GB', '12'],
    ['9'.repeat(78), 18, 'en-GB', `${'999,'.repeat(19)}999.${'9'.repeat(18)}`],
  ])('%s with %i decimals in %s is %s', (amount, decimals, locale, expected) => {
    expect(formatAmount(amount, { decimals, locale })).toBe(expected);
  });

  it('is cut, never rounded up: nobody is shown more than there is', () => {
    const options = { decimals: 4, locale: 'en-GB', maxFraction: 2 };
    expect(formatAmount('19999', options)).toBe('1.99');
    expect(formatAmount('10001', options)).toBe('1');
  });

  it.each(['', '-1', '1.5', '0x10', '1e3', '١٢'])('is refused as %j', (amount) => {
    expect(() => formatAmount(amount, { decimals: 18, locale: 'en-GB' })).toThrow(RangeError);
  });

  it('of any size is the same number again, digit by digit', () => {
    const sizes = fc.tuple(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), fc.nat(77));
    fc.assert(
      fc.property(sizes, ([amount, decimals]) => {
        const text = formatAmount(String(amount), { decimals, locale: 'en-GB' });
        const [whole = '', fraction = ''] = text.replaceAll(',', '').split('.');
        expect(BigInt(whole + fraction.padEnd(decimals, '0'))).toBe(amount);
      }),
    );
  });
});

it('a decimal is grouped as well', () => {
  expect(formatDecimal('12345.678', { locale: 'de-DE' })).toBe('12.345,678');
  expect(formatDecimal('-1234.50', { locale: 'en-GB' })).toBe('-1,234.5');
  expect(formatDecimal('1.239', { locale: 'en-GB', maxFraction: 2 })).toBe('1.23');
  expect(formatDecimal('1e5', { locale: 'de-DE' })).toBe('1e5');
});

it('a small amount is not cut to 0, and dollars have cents', () => {
  expect(formatDecimal('975434.79466666666666669', { locale: 'en-GB', maxFraction: 6 })).toBe(
    '975,434.794666',
  );
  expect(formatDecimal('0.0000001234567', { locale: 'en-GB', maxFraction: 6 })).toBe(
    '0.000000123456',
  );
  expect(formatDecimal('22.8', { locale: 'en-GB', maxFraction: 8, minFraction: 2 })).toBe('22.80');
  expect(formatDecimal('0', { locale: 'de-DE', minFraction: 2 })).toBe('0,00');
});

it.each([
  ['300,000', '300000'],
  ['1 234 567.5', '1234567.5'],
  [" 12'000 ", '12000'],
  ['12,5', '12,5'],
  ['1,23,456', '1,23,456'],
  ['none', 'none'],
])('the typed number %j is %j', (typed, plain) => {
  expect(plainDecimal(typed)).toBe(plain);
});

it('points are grouped', () => {
  expect(formatPoints(Number.MAX_SAFE_INTEGER, 'en-GB')).toBe('9,007,199,254,740,991');
});

it('dollars have cents', () => {
  expect(formatUsd(50, 'en-US')).toBe('$50.00');
  expect(formatUsd(0.1537, 'en-US', 6)).toBe('$0.1537');
});

describe('what was typed as points', () => {
  it.each([
    ['5000', 5000],
    ['5,000', 5000],
    ['5.000', 5000],
    [' 1 234 567 ', 1_234_567],
    ['1\u202f234', 1234],
    ['007', 7],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
  ])('%j is %i', (text, expected) => {
    expect(parsePoints(text)).toBe(expected);
  });

  it.each([
    ...['', '0', '-5', '1.5', '1,5', '1,234.567', '1,234,56', '5e3', '0x5', 'all'],
    ...['9007199254740992', '9'.repeat(400), '5\u0000', '٥'],
  ])('%j is no number of points', (text) => {
    expect(parsePoints(text)).toBeUndefined();
  });
});
