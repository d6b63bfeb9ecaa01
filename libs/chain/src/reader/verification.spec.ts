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

  it('auto never chooses none: it refuses, and names the remedies', () => {
    expect(() => chooseVerification('auto', nothing)).toThrow(
      expect.objectContaining({
        code: 'VERIFICATION_IMPOSSIBLE',
        retryable: false,
        message: expect.stringMatching(
          /^STAKE_VERIFICATION=auto: .* another company to RPC_URLS, .* totalView or balanceView .* STAKE_VERIFICATION=none: /,
        ),
      }),
    );
  });

  it('names a view that is set and does not answer, before anything else', () => {
    const unanswered = ['The view f(uint256) of 0xa1 reverts.'];
    expect(() => chooseVerification('auto', { ...nothing, unanswered })).toThrow(
      expect.objectContaining({ code: 'STAKE_VIEW_UNANSWERED', message: unanswered[0] }),
    );
    const named = chooseVerification('none', { ...nothing, unanswered });
    expect(named.reason).toBe(`STAKE_VERIFICATION=none is set. ${unanswered[0]}`);
    const { mode, reason } = chooseVerification('auto', { ...nothing, balances: true, unanswered });
    expect({ mode, reason }).toEqual({
      mode: 'wallets',
      reason: expect.stringContaining(unanswered[0] ?? ''),
    });
  });

  it('takes none by name', () => {
    const { mode, cannotFind } = chooseVerification('none', nothing);
    expect(mode).toBe('none');
    expect(cannotFind).toContain('no day is sealed or published');
  });
});
