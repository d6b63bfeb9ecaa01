import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { compareDecimals, parseDecimal, smallestUnits, tokensText } from './decimal.js';
import { averageStaked, decimalToNumber, ratioToNumber, tokensToNumber, valueOf } from './ratio.js';

/** The exact value of a finite double as numerator / 2^k, from its bits. */
function exactly(value: number): { numerator: bigint; power: bigint } {
  const bits = new BigUint64Array(new Float64Array([value]).buffer)[0] ?? 0n;
  const exponent = (bits >> 52n) & 0x7ffn;
  const fraction = bits & 0xfffffffffffffn;
  const significand = exponent === 0n ? fraction : fraction | (1n << 52n);
  const scale = (exponent === 0n ? 1n : exponent) - 1075n;
  return scale >= 0n
    ? { numerator: significand << scale, power: 0n }
    : { numerator: significand, power: -scale };
}

function neighbour(value: number, step: 1n | -1n): number {
  const bits = new BigUint64Array(new Float64Array([value]).buffer);
  bits[0] = (bits[0] ?? 0n) + step;
  return new Float64Array(bits.buffer)[0] ?? 0;
}

function isEven(value: number): boolean {
  return ((new BigUint64Array(new Float64Array([value]).buffer)[0] ?? 0n) & 1n) === 0n;
}

const abs = (value: bigint) => (value < 0n ? -value : value);

/** |value - n/d|, as the numerator of a fraction over d x 2^1100. */
function distance(value: number, n: bigint, d: bigint): bigint {
  const { numerator, power } = exactly(value);
  return abs(((numerator * d) << (1100n - power)) - (n << 1100n));
}

/**
 * Expects the nearest double, or the even one of two that are equally near. Compares with both neighbours by exact
 * arithmetic.
 */
function expectNearest(result: number, n: bigint, d: bigint): void {
  const own = distance(result, n, d);
  const others = [neighbour(result, 1n), ...(result > 0 ? [neighbour(result, -1n)] : [])];
  for (const other of others.filter(Number.isFinite)) {
    const theirs = distance(other, n, d);
    if (!(own < theirs || (own === theirs && isEven(result)))) {
      throw new Error(`${n.toString()}/${d.toString()} gave ${result}, but ${other} is nearer`);
    }
  }
}

const positive = (bits: bigint) => fc.bigInt({ min: 1n, max: 1n << bits });

describe('ratioToNumber', () => {
  it('gives the nearest double, half to even, for ratios of any size', () => {
    fc.assert(
      fc.property(
        fc.oneof(...[8n, 53n, 54n, 64n, 130n, 260n, 900n].map(positive)),
        fc.oneof(...[8n, 53n, 54n, 64n, 130n, 260n, 1000n].map(positive)),
        (n, d) => {
          expectNearest(ratioToNumber(n, d), n, d);
        },
      ),
      { numRuns: 3000 },
    );
  });

  it('rounds exact midpoints to even and what is a hair beside them to the nearer one', () => {
    const doubles = fc.double({ min: 0, max: 1e300, noNaN: true });
    fc.assert(
      fc.property(doubles, fc.constantFrom(-1n, 0n, 1n), (low, hair) => {
        const a = exactly(low);
        const b = exactly(neighbour(low, 1n));
        const n =
          (((a.numerator << (1100n - a.power)) + (b.numerator << (1100n - b.power))) << 40n) + hair;
        const d = 1n << 1141n;
        expectNearest(ratioToNumber(n, d), n, d);
      }),
      { numRuns: 2000 },
    );
  });

  it('gives back every double, subnormal or huge, from its exact value', () => {
    const doubles = fc.double({ min: 0, noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(doubles, positive(200n), (value, factor) => {
        const { numerator, power } = exactly(value);
        expect(ratioToNumber(numerator * factor, factor << power)).toBe(value);
      }),
      { numRuns: 2000 },
    );
  });

  it('agrees with the decimal reader of the language', () => {
    fc.assert(
      fc.property(positive(260n), fc.integer({ min: 0, max: 255 }), (n, decimals) => {
        const digits = n.toString();
        expect(ratioToNumber(n, 10n ** BigInt(decimals))).toBe(Number(`${digits}e-${decimals}`));
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    [0n, 5n, 0],
    [1n, 3n, 1 / 3],
    [-1n, 3n, -1 / 3],
    [(1n << 53n) + 1n, 1n, 2 ** 53],
    [(1n << 53n) + 3n, 1n, 2 ** 53 + 4],
    [1n, 1n << 1074n, Number.MIN_VALUE],
    [1n, 1n << 1075n, 0],
    [3n, 1n << 1075n, 2 * Number.MIN_VALUE],
    [1n << 1024n, 1n, Infinity],
    [(1n << 1024n) - (1n << 970n) - 1n, 1n, Number.MAX_VALUE],
    [(1n << 1024n) - (1n << 970n), 1n, Infinity],
  ])('of %s / %s is %s', (n, d, expected) => {
    expect(ratioToNumber(n, d)).toBe(expected);
  });

  it.each([0n, -1n])('refuses the denominator %s', (denominator) => {
    const refused = new RangeError('The denominator must be above 0.');
    expect(() => ratioToNumber(1n, denominator)).toThrow(refused);
  });
});

describe('decimalToNumber', () => {
  it.each([
    [{ digits: 12n, scale: 0 }, 12],
    [{ digits: -350n, scale: 2 }, -3.5],
  ])('of %p is %s', (decimal, expected) => {
    expect(decimalToNumber(decimal)).toBe(expected);
  });
});

describe('tokensToNumber', () => {
  it('gives the nearest double of any amount, in any number of decimals', () => {
    const amounts = fc.oneof(
      fc.bigInt({ min: 0n, max: 2n ** 256n }),
      fc.bigInt({ min: 0n, max: 2n ** 70n }),
    );
    fc.assert(
      fc.property(amounts, fc.integer({ min: 0, max: 255 }), (amount, decimals) => {
        expectNearest(tokensToNumber(amount, decimals), amount, 10n ** BigInt(decimals));
        expect(tokensToNumber(amount, decimals)).toBe(
          ratioToNumber(amount, 10n ** BigInt(decimals)),
        );
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    // Half way between two doubles rounds to the even one; just beside, to the nearer one.
    [9007199254740993n, 0, 9007199254740992],
    [9007199254740995n, 0, 9007199254740996],
    [9007199254740993000000000000000001n, 18, 9007199254740994],
    [9007199254740992999999999999999999n, 18, 9007199254740992],
    [1n, 255, 1e-255],
  ])('rounds %s x 10^-%s to %s', (amount, decimals, expected) => {
    expect(tokensToNumber(amount, decimals)).toBe(expected);
  });
});

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
});

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
