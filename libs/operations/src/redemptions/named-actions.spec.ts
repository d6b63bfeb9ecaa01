import { describe, expect, it } from '@jest/globals';
import { FRESHNESS_WINDOW_MS, newRedemption, type Redemption, type UuidV7 } from '#libs/domain';
import { aWallet } from '#libs/testing/database';
import { aPartnerId } from '#libs/testing/partner';
import { refusedActions } from './named-actions.js';

const NOW_MS = Date.parse('2026-11-23T12:00:00Z');
const ID = '0199d000-0000-7000-8000-0000000000aa' as UuidV7;
const POLICY = { capabilities: [], confirms: false } as const;

function stopped(change: Partial<Redemption>): Redemption {
  const terms = {
    ...{ id: ID, partner: aPartnerId(), wallet: aWallet(1), points: 5000n },
    usdAmount: { digits: 5000n, scale: 2 },
    ...{ tokenAmount: 1n, tokenDecimals: 18, priceUsd: { digits: 15n, scale: 2 } },
    quoteExpiresAtMs: NOW_MS,
  };
  const state = { state: 'attention', resume: 'reverting' } as const;
  return { ...newRedemption(terms, NOW_MS), ...state, ...change };
}

describe('refusedActions', () => {
  const context = { nowMs: NOW_MS, policy: POLICY };

  it('says from when an action that is named can be done', () => {
    const lastDeductAtMs = NOW_MS - 60_000;
    const redemption = stopped({ reason: 'deduction-unresolved', lastDeductAtMs });
    expect(refusedActions(redemption, context)).toEqual([
      {
        action: 'not-deducted',
        command: 'redemption resolve',
        title: 'End it: the partner took no points',
        why: `Not now: A call to deduct could still reach the partner. Possible from ${new Date(lastDeductAtMs + FRESHNESS_WINDOW_MS + 1).toISOString()} on.`,
      },
    ]);
    const later = { ...context, nowMs: lastDeductAtMs + FRESHNESS_WINDOW_MS + 1 };
    expect(refusedActions(redemption, later)).toEqual([]);
  });

  it('says why one cannot be done that no time will allow', () => {
    const change = { reason: 'revert-exhausted', partnerTransactionId: 'T-1' } as const;
    expect(refusedActions(stopped(change), context)).toEqual([
      expect.objectContaining({
        action: 'not-deducted',
        why: 'Not now: The partner has confirmed this deduction.',
      }),
    ]);
  });

  it('has none that the advice does not name, and none outside attention', () => {
    const fresh = { lastDeductAtMs: NOW_MS } as const;
    expect(refusedActions(stopped({ ...fresh, reason: 'amount-disputed' }), context)).toEqual([]);
    const deducting = stopped({ ...fresh, state: 'deducting', reason: null });
    expect(refusedActions(deducting, context)).toEqual([]);
  });
});
