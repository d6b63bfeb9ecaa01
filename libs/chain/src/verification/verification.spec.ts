import { describe, expect, it } from '@jest/globals';
import {
  chooseVerification,
  VERIFICATION_MODES,
  type VerificationMode,
  type VerificationOffer,
} from './verification.js';

const nothing: VerificationOffer = { total: 'none', balances: false, providers: 1 };

describe('STAKE_VERIFICATION', () => {
  it.each<[VerificationMode, Partial<VerificationOffer>]>([
    ['total', { total: 'history', balances: true, providers: 2 }],
    ['total', { total: 'history' }],
    ['two', { total: 'recent', balances: true, providers: 2 }],
    ['two', { providers: 3 }],
    ['wallets', { total: 'recent', balances: true }],
    ['wallets', { balances: true }],
    ['total', { total: 'recent' }],
    ['headers', {}],
  ])('auto is %s with %j', (mode, offer) => {
    const chosen = chooseVerification('auto', { ...nothing, ...offer });
    expect(chosen.mode).toBe(mode);
    expect(chosen.reason).toMatch(/\.$/);
    expect(chosen.cannotFind).toMatch(/\.$/);
  });

  it('takes any mode that is possible at its word', () => {
    const all: VerificationOffer = { total: 'history', balances: true, providers: 2 };
    for (const mode of VERIFICATION_MODES) {
      expect(chooseVerification(mode, all)).toMatchObject({
        mode,
        reason: `STAKE_VERIFICATION=${mode} is set.`,
      });
    }
  });

  it.each<[VerificationMode, RegExp]>([
    ['total', /no contract tells its total. Set totalView/],
    ['two', /one provider only. Add one of another provider/],
    ['wallets', /Set balanceView/],
  ])('refuses %s where it cannot be had, and says what to do', (mode, reason) => {
    expect(() => chooseVerification(mode, nothing)).toThrow(reason);
    expect(() => chooseVerification(mode, nothing)).toThrow(
      expect.objectContaining({ code: 'VERIFICATION_IMPOSSIBLE', retryable: false }),
    );
  });

  it('does not read every header because a view that is set does not answer', () => {
    const unanswered = ['The view f(uint256) of 0xa1 reverts.'];
    expect(() => chooseVerification('auto', { ...nothing, unanswered })).toThrow(
      expect.objectContaining({ code: 'STAKE_VIEW_UNANSWERED', message: unanswered[0] }),
    );
    const named = chooseVerification('headers', { ...nothing, unanswered });
    expect(named.reason).toBe(`STAKE_VERIFICATION=headers is set. ${unanswered[0]}`);
    const { mode, reason } = chooseVerification('auto', { ...nothing, balances: true, unanswered });
    expect({ mode, reason }).toEqual({
      mode: 'wallets',
      reason: expect.stringContaining(unanswered[0] ?? ''),
    });
  });

  it('has headers as the last resort', () => {
    expect(chooseVerification('headers', nothing).mode).toBe('headers');
  });
});
