import { describe, expect, it } from '@jest/globals';
import { parseDecimal } from './decimal.js';
import { averageStaked, ratioToNumber, tokensToNumber, valueOf } from './ratio.js';

describe('averages and values', () => {
  it('give the published example', () => {
    const wei = [0, 100, 300, 150, 150, 650, 650].map((amount) => BigInt(amount) * 10n ** 18n);
    const average = averageStaked(wei, 7, 18);
    expect(ratioToNumber(average.numerator, average.denominator)).toBe(285.7142857142857);
    const value = valueOf(average, parseDecimal('0.0001'));
    expect(ratioToNumber(value.numerator, value.denominator)).toBe(0.02857142857142857);
  });

  it('round once: the value is of the exact average, not of the rounded one', () => {
    const average = averageStaked([10n, 0n, 0n], 3, 0);
    const value = valueOf(average, parseDecimal('3'));
    expect(ratioToNumber(value.numerator, value.denominator)).toBe(10);
  });

  it('divide by the days asked for, not by those present', () => {
    expect(averageStaked([7n], 7, 0)).toEqual({ numerator: 7n, denominator: 7n });
  });

  it.each([
    [1n, 18, 1e-18],
    [650n * 10n ** 18n, 18, 650],
    [123_456_789n, 6, 123.456789],
    [(1n << 256n) - 1n, 0, 1.157920892373162e77],
    [5n, 0, 5],
  ])('%s with %s decimals is %s tokens', (amount, decimals, expected) => {
    expect(tokensToNumber(amount, decimals)).toBe(expected);
  });
});

describe('parseDecimal', () => {
  it.each([
    ['0.0001', 1n, 4],
    ['12', 12n, 0],
    ['-3.50', -350n, 2],
    ['1e-7', 1n, 7],
    ['1.5E3', 1500n, 0],
    ['0', 0n, 0],
  ])('reads %s', (text, digits, scale) => {
    expect(parseDecimal(text)).toEqual({ digits, scale });
  });

  it.each([
    '',
    ' 1',
    '1 ',
    '+1',
    '.5',
    '5.',
    '0x10',
    'NaN',
    'Infinity',
    '1e',
    '1e9999',
    '١',
    '1'.repeat(401),
  ])('refuses %p', (text) => {
    expect(() => parseDecimal(text)).toThrow(expect.objectContaining({ code: 'INVALID_DECIMAL' }));
  });
});
