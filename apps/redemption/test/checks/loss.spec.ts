import { describe, expect, it } from '@jest/globals';
import { parseDecimal } from '#libs/domain';
import { type Loss, lossFaults, lossOf, type LossSettings } from './loss.js';
import { type RedemptionFacts } from './redemption-facts.js';

/** A token without decimals at 0.10 USD, so a point is worth a tenth of a token. */
const SETTINGS: LossSettings = {
  rate: { usdPerPoint: parseDecimal('0.01') },
  tokenDecimals: 0,
  honestUsd: parseDecimal('0.1'),
  lowestUsd: parseDecimal('0.05'),
  partnerDailyTokens: 1000n,
  walletDailyTokens: 500n,
  days: 1,
};

/** A redemption with only the fields that the losses use. */
function redeemed(id: string, points: number, reverted = false): RedemptionFacts {
  const deductions = [{ transactionId: 'tx', points, reverted }];
  return { id, books: { deductions } } as unknown as RedemptionFacts;
}

function lossIn(paid: readonly [string, bigint][], planned = [[1000, 1000]]): Loss {
  const all = [redeemed('taken', 1000), redeemed('back', 1000, true)];
  return lossOf(new Map(paid), all, planned, SETTINGS);
}

describe('the loss', () => {
  it('is none where as much was paid as the honest price says, or less', () => {
    expect(lossIn([['taken', 100n]])).toMatchObject({ withoutPoints: 0n, byPrice: 0n });
    expect(lossIn([['taken', 90n]])).toMatchObject({ withoutPoints: 0n, byPrice: 0n });
  });

  it('by the price is what was paid beyond it', () => {
    expect(lossIn([['taken', 130n]])).toMatchObject({ withoutPoints: 0n, byPrice: 30n });
  });

  it('of one redemption is bounded by the lowest price', () => {
    expect(lossIn([['taken', 200n]]).beyondLimits).toEqual([]);
    expect(lossIn([['taken', 201n]]).beyondLimits).toEqual(['taken']);
  });

  it('without points is all that was paid for points that are back, or for no redemption', () => {
    expect(
      lossIn([
        ['back', 100n],
        ['stray', 7n],
      ]),
    ).toMatchObject({ withoutPoints: 107n, byPrice: 0n });
  });

  it.each<[string, number[][], Partial<LossSettings>, bigint]>([
    ['half of what all points come to at the lowest price', [[1000, 500]], {}, 152n],
    ['half of what the wallets may have', [[9000, 500]], {}, 302n],
    ['half of what the partners may have', [[4000, 4000, 4000], [10]], {}, 505n],
    ['for each day', [[9000]], { days: 2 }, 501n],
    ['next to nothing without a lower price', [[1000]], { lowestUsd: parseDecimal('0.10') }, 1n],
  ])('is bounded by %s', (_, planned, change, bound) => {
    const loss = lossOf(new Map(), [], planned, { ...SETTINGS, ...change });
    expect(loss.priceBound).toBe(bound);
  });

  it('is a fault beyond the bound, and where no points were taken', () => {
    expect(
      lossFaults({ withoutPoints: 0n, byPrice: 5n, priceBound: 5n, beyondLimits: [] }),
    ).toEqual([]);
    expect(
      lossFaults({ withoutPoints: 1n, byPrice: 6n, priceBound: 5n, beyondLimits: ['one'] }),
    ).toEqual([
      'one was paid at a price beyond the limits',
      '1 were paid for no points',
      'wrong prices cost 6, and the settings allow 5',
    ]);
  });
});
