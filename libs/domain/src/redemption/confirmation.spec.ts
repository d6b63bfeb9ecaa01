import { describe, expect, it } from '@jest/globals';
import { canonicalJson } from '../values/canonical-json.js';
import { confirmationPayload } from './confirmation.js';
import { REDEMPTION_STATES } from './redemption.js';
import { aRedemption } from './testing/builders.js';

const COMMON = {
  address: aRedemption('created').wallet,
  deductPoints: 5000,
  usdAmount: 50,
  svcAmount: 340,
  priceSvcUsd: 0.15,
  svcRedemptionId: aRedemption('created').id,
  initialAt: '2026-03-01T12:00:00.000Z',
  pendingAt: '2026-03-01T12:00:00.000Z',
};

describe('confirmationPayload', () => {
  it('of a claimed redemption proves the transfer', () => {
    expect(confirmationPayload(aRedemption('claimed'))).toEqual({
      ...COMMON,
      status: 'claimed',
      txnConfirmed: true,
      txnHash: `0x${'c'.repeat(64)}`,
      claimedAt: '2026-03-01T12:20:00.000Z',
      revertedAt: null,
    });
  });

  it('of a reverted one has no hash, and nothing confirmed on chain', () => {
    const payload = confirmationPayload(aRedemption('reverted'));
    expect(payload).toEqual({
      ...COMMON,
      status: 'reverted',
      txnConfirmed: false,
      claimedAt: null,
      revertedAt: '2026-03-01T12:00:05.000Z',
    });
    expect(canonicalJson(payload)).not.toContain('txnHash');
  });

  it('rounds each number once', () => {
    const payload = confirmationPayload(
      aRedemption('claimed', {
        tokenAmount: 333_266_666_666_666_666_666n,
        usdAmount: { digits: 10n ** 40n + 1n, scale: 40 },
        priceUsd: { digits: 1n, scale: 7 },
      }),
    );
    expect(payload).toMatchObject({
      svcAmount: Number('333.266666666666666666'),
      usdAmount: 1,
      priceSvcUsd: 1e-7,
    });
  });

  it.each(REDEMPTION_STATES.filter((state) => state !== 'claimed' && state !== 'reverted'))(
    'there is none for %s',
    (state) => {
      expect(() => confirmationPayload(aRedemption(state))).toThrow(
        expect.objectContaining({ code: 'NOT_CONFIRMABLE' }),
      );
    },
  );
});
