import { describe, expect, it } from '@jest/globals';
import {
  budgetBreach,
  coolDownBreach,
  coolDownSeconds,
  limitBreach,
  type LimitedRequest,
  recordBreach,
  type RedemptionLimits,
  type RedemptionUsage,
  tokensLeftToday,
  type UnclaimedVouchers,
} from './limits.js';

const NOW = 1_772_366_400_000;

function someLimits(change: Partial<RedemptionLimits> = {}): RedemptionLimits {
  return {
    paused: false,
    minPoints: 100n,
    maxPoints: 10_000n,
    partnerDailyTokens: 1000n,
    walletDailyTokens: 500n,
    maxOpen: 1,
    priceMaxAgeSeconds: 7200,
    ...change,
  };
}

function aRequest(change: Partial<LimitedRequest> = {}): LimitedRequest {
  return {
    points: 5000n,
    limits: someLimits(),
    price: { observedAtMs: NOW },
    nowMs: NOW,
    ...change,
  };
}

describe('limitBreach', () => {
  it.each<[string, Partial<LimitedRequest>, string | undefined]>([
    ['within all limits', {}, undefined],
    ['paused', { limits: someLimits({ paused: true }) }, 'PARTNER_PAUSED'],
    ['no points', { points: 0n }, 'INVALID_POINTS'],
    ['negative points', { points: -1n }, 'INVALID_POINTS'],
    [
      'more than a JSON number says',
      { points: 2n ** 53n, limits: someLimits({ maxPoints: undefined }) },
      'INVALID_POINTS',
    ],
    [
      'as many as a JSON number says',
      { points: 2n ** 53n - 1n, limits: someLimits({ maxPoints: undefined }) },
      undefined,
    ],
    ['below the minimum', { points: 99n }, 'TOO_FEW_POINTS'],
    ['the minimum', { points: 100n }, undefined],
    ['the maximum', { points: 10_000n }, undefined],
    ['above the maximum', { points: 10_001n }, 'TOO_MANY_POINTS'],
    ['no price', { price: undefined }, 'PRICE_UNAVAILABLE'],
    ['a held price', { price: { observedAtMs: NOW, isHeld: true } }, 'PRICE_UNAVAILABLE'],
    ['no budget', { limits: someLimits({ partnerDailyTokens: undefined }) }, 'PARTNER_PAUSED'],
    ['a price of just 2 h ago', { price: { observedAtMs: NOW - 7_200_000 } }, undefined],
    ['an older price', { price: { observedAtMs: NOW - 7_200_001 } }, 'PRICE_STALE'],
    [
      'no minimum and maximum',
      { points: 1n, limits: someLimits({ minPoints: undefined }) },
      undefined,
    ],
  ])('%s', (_name, change, expected) => {
    expect(limitBreach(aRequest(change))?.code).toBe(expected);
  });

  it('says how many points it takes', () => {
    expect(limitBreach(aRequest({ points: 1n }))?.message).toContain('100 points');
    expect(limitBreach(aRequest({ points: 20_000n }))?.message).toContain('10000 points');
  });
});

describe('budgetBreach', () => {
  const none: RedemptionUsage = { open: 0, partnerTokensToday: 0n, walletTokensToday: 0n };
  const used = (change: Partial<RedemptionUsage>) => ({ usage: { ...none, ...change } });
  const free = someLimits({ partnerDailyTokens: undefined, walletDailyTokens: undefined });

  it.each<
    [
      string,
      { tokens?: bigint; usage?: RedemptionUsage; limits?: RedemptionLimits },
      string | undefined,
    ]
  >([
    ['within all budgets', {}, undefined],
    ['worth nothing', { tokens: 0n }, 'TOO_FEW_TOKENS'],
    ['one open', used({ open: 1 }), 'REDEMPTION_OPEN'],
    ['one open of two', { ...used({ open: 1 }), limits: someLimits({ maxOpen: 2 }) }, undefined],
    ['to the last token of the partner', used({ partnerTokensToday: 660n }), undefined],
    ['a unit over the partner’s', used({ partnerTokensToday: 661n }), 'PARTNER_BUDGET_SPENT'],
    ['to the last token of the wallet', used({ walletTokensToday: 160n }), undefined],
    ['a unit over the wallet’s', used({ walletTokensToday: 161n }), 'WALLET_BUDGET_SPENT'],
    ['a budget of 0', { limits: someLimits({ partnerDailyTokens: 0n }) }, 'PARTNER_BUDGET_SPENT'],
    ['no budgets', { tokens: 10n ** 30n, limits: free }, undefined],
  ])('%s', (_name, { tokens = 340n, usage = none, limits = someLimits() }, expected) => {
    expect(budgetBreach({ tokenAmount: tokens }, limits, usage)?.code).toBe(expected);
  });

  it('names the redemption that is open', () => {
    const usage = { ...none, open: 1, openId: '0199d000-0000-7000-8000-000000000001' };
    const messageOf = (of: RedemptionUsage) =>
      budgetBreach({ tokenAmount: 340n }, someLimits(), of)?.message;
    expect(messageOf(usage)).toContain(`Redemption ${usage.openId} with this partner`);
    expect(messageOf({ ...none, open: 1 })).toContain('Another redemption with this partner');
  });

  it.each([
    [{ partnerTokensToday: 700n }, 300n],
    [{ walletTokensToday: 300n }, 200n],
    [{ partnerTokensToday: 900n, walletTokensToday: 450n }, 50n],
    [{ partnerTokensToday: 700n, walletTokensToday: 450n }, 50n],
    [{ partnerTokensToday: 2000n }, 0n],
  ])('of %o says that %s tokens are left of the day', (change, left) => {
    const breach = budgetBreach({ tokenAmount: 340n }, someLimits(), { ...none, ...change });
    expect(breach?.tokensLeft).toBe(left);
  });
});

describe('tokensLeftToday', () => {
  const usage: RedemptionUsage = { open: 0, partnerTokensToday: 900n, walletTokensToday: 50n };

  it.each<[string, Partial<RedemptionLimits>, bigint | undefined]>([
    ['the partner’s, if it is the smaller one', {}, 100n],
    ['the wallet’s, if it is the smaller one', { walletDailyTokens: 60n }, 10n],
    ['the partner’s alone', { walletDailyTokens: undefined }, 100n],
    ['the wallet’s alone', { partnerDailyTokens: undefined }, 450n],
    ['none', { partnerDailyTokens: undefined, walletDailyTokens: undefined }, undefined],
    ['what is spent', { partnerDailyTokens: 900n }, 0n],
  ])('%s', (_name, change, expected) => {
    expect(tokensLeftToday(someLimits(change), usage)).toBe(expected);
  });
});

const COOL_DOWN = { firstSeconds: 300, longestSeconds: 86_400 };

describe('coolDownSeconds', () => {
  it.each([
    [0, 0],
    [1, 300],
    [2, 600],
    [3, 1200],
    [9, 76_800],
    [10, 86_400],
    [1_000_000, 86_400],
  ])('after %p vouchers without a claim: %p s', (count, seconds) => {
    expect(coolDownSeconds(count, COOL_DOWN)).toBe(seconds);
  });

  it('can be switched off', () => {
    expect(coolDownSeconds(50, { firstSeconds: 0, longestSeconds: 86_400 })).toBe(0);
  });
});

describe('coolDownBreach', () => {
  it('is over when its time has come, and not a millisecond before', () => {
    const after = (count: number, agoMs: number) =>
      coolDownBreach({ count, lastEndedAtMs: NOW - agoMs }, COOL_DOWN, NOW);
    expect(after(2, 600_000)).toBeUndefined();
    expect(after(2, 599_999)).toMatchObject({ code: 'VOUCHER_COOL_DOWN', retryAfterSeconds: 1 });
    expect(after(2, 0)?.retryAfterSeconds).toBe(600);
    expect(coolDownBreach({ count: 0 }, COOL_DOWN, NOW)).toBeUndefined();
  });

  it('says until when', () => {
    const breach = coolDownBreach({ count: 1, lastEndedAtMs: NOW }, COOL_DOWN, NOW);
    expect(breach?.message).toBe(
      'Your last voucher was not claimed. You can redeem again at 2026-03-01T12:05:00.000Z, in 300 seconds.',
    );
  });
});

describe('recordBreach', () => {
  const waiting = { count: 1, lastEndedAtMs: NOW };
  const codeOf = (limits: RedemptionLimits, unclaimed: UnclaimedVouchers, open: number) => {
    const usage = { open, partnerTokensToday: 0n, walletTokensToday: 0n };
    return recordBreach({ tokenAmount: 340n }, limits, { unclaimed, usage }, NOW)?.code;
  };

  it('is of the cool-down, then of the budgets', () => {
    const limits = someLimits({ coolDown: COOL_DOWN });
    expect(codeOf(limits, waiting, 1)).toBe('VOUCHER_COOL_DOWN');
    expect(codeOf(limits, { count: 0 }, 1)).toBe('REDEMPTION_OPEN');
    expect(codeOf(someLimits(), waiting, 1)).toBe('REDEMPTION_OPEN');
    expect(codeOf(limits, { count: 0 }, 0)).toBeUndefined();
  });
});
