import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseDecimal } from '../values/decimal.js';
import { pointsWithin, redemptionAmounts } from './quote.js';

const RATE = {
  usdPerPoint: parseDecimal('0.01'),
  bonus: { fromPoints: 5000n, rate: parseDecimal('0.02') },
};
const PRICE = parseDecimal('0.15');

describe('redemptionAmounts', () => {
  it('gives the published example: 5,000 points are 50 USD and 340 tokens', () => {
    expect(redemptionAmounts(5000n, RATE, PRICE, 18)).toEqual({
      usdAmount: { digits: 5000n, scale: 2 },
      tokenAmount: 340n * 10n ** 18n,
    });
  });

  it.each([
    [4999n, 18, 333_266_666_666_666_666_666n],
    [4999n, 0, 333n],
    [5000n, 0, 340n],
    [5001n, 6, 340_068_000n],
    [1n, 0, 0n],
  ])('of %s points with %s decimals is %s', (points, decimals, expected) => {
    expect(redemptionAmounts(points, RATE, PRICE, decimals).tokenAmount).toBe(expected);
  });

  it('floors once: at most the exact amount, and less than one unit below it', () => {
    const decimal = fc.record({
      digits: fc.bigInt({ min: 1n, max: 10n ** 12n }),
      scale: fc.integer({ min: 0, max: 20 }),
    });
    fc.assert(
      fc.property(
        fc.bigInt({ min: 1n, max: 10n ** 12n }),
        decimal,
        decimal,
        decimal,
        (points, usdPerPoint, price, rate) => {
          const decimals = 18;
          const { tokenAmount } = redemptionAmounts(
            points,
            { usdPerPoint, bonus: { fromPoints: 1n, rate } },
            price,
            decimals,
          );
          // tokens x price = usd x (1 + bonus), all brought to 10^60.
          const scaled = ({ digits, scale }: { digits: bigint; scale: number }) =>
            digits * 10n ** BigInt(30 - scale);
          const exact =
            points * scaled(usdPerPoint) * (10n ** 30n + scaled(rate)) * 10n ** BigInt(decimals);
          const one = scaled(price) * 10n ** 30n;
          expect(tokenAmount * one <= exact && exact < (tokenAmount + 1n) * one).toBe(true);
        },
      ),
    );
  });

  it('multiplies points by USD per point, and takes a bonus of 0', () => {
    const rate = {
      usdPerPoint: parseDecimal('0.03'),
      bonus: { ...RATE.bonus, rate: parseDecimal('0') },
    };
    expect(redemptionAmounts(5000n, rate, PRICE, 0)).toEqual({
      usdAmount: { digits: 15_000n, scale: 2 },
      tokenAmount: 1000n,
    });
  });

  it('has no bonus where none was agreed', () => {
    const rate = { usdPerPoint: RATE.usdPerPoint };
    expect(redemptionAmounts(5000n, rate, PRICE, 0).tokenAmount).toBe(333n);
  });

  it.each([
    [0n, '0.01', '0.15', '0.02'],
    [-1n, '0.01', '0.15', '0.02'],
    [5000n, '0', '0.15', '0.02'],
    [5000n, '0.01', '0', '0.02'],
    [5000n, '0.01', '-1', '0.02'],
    [5000n, '0.01', '0.15', '-0.02'],
  ])('refuses %s points at %s USD, price %s, bonus %s', (points, usd, price, rate) => {
    const agreed = {
      usdPerPoint: parseDecimal(usd),
      bonus: { fromPoints: 0n, rate: parseDecimal(rate) },
    };
    expect(() => redemptionAmounts(points, agreed, parseDecimal(price), 18)).toThrow(
      expect.objectContaining({ code: 'INVALID_QUOTE' }),
    );
  });
});

describe('pointsWithin', () => {
  it('is the most points whose tokens fit, with the bonus and without it', () => {
    const tokens = fc.bigInt({ min: 1n, max: 500n });
    const price = fc.integer({ min: 1, max: 300 }).map((cents) => ({
      digits: BigInt(cents),
      scale: 2,
    }));
    fc.assert(
      fc.property(tokens, price, fc.constantFrom(0, 1), (left, priceUsd, decimals) => {
        const quote = { rate: RATE, priceUsd, tokenDecimals: decimals };
        const worth = (points: bigint) =>
          redemptionAmounts(points, RATE, priceUsd, decimals).tokenAmount;
        const points = pointsWithin(left, quote);
        if (points > 0n) expect(worth(points)).toBeLessThanOrEqual(left);
        expect(worth(points + 1n)).toBeGreaterThan(left);
      }),
    );
  });

  it.each([
    [340n, 5014n],
    [339n, 4999n],
    [333n, 4999n],
    [332n, 4994n],
    [0n, 0n],
    [-5n, 0n],
  ])('of %s whole tokens are %s', (tokens, expected) => {
    const quote = { rate: RATE, priceUsd: PRICE, tokenDecimals: 0 };
    expect(pointsWithin(tokens, quote)).toBe(expected);
  });

  it.each([
    ['as many as the bonus needs, which would then be too many', 3333n, 1, 4999n],
    ['as many as the bonus needs, with the bonus', 34_000n, 2, 5000n],
  ])('are %s', (_which, tokens, tokenDecimals, expected) => {
    expect(pointsWithin(tokens, { rate: RATE, priceUsd: PRICE, tokenDecimals })).toBe(expected);
  });

  it('needs no bonus', () => {
    const rate = { usdPerPoint: RATE.usdPerPoint };
    expect(pointsWithin(340n, { rate, priceUsd: PRICE, tokenDecimals: 0 })).toBe(5114n);
  });
});
