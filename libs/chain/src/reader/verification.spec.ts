/** STAKE_VERIFICATION, FINALITY, and the symbols of tokens. */
import { describe, expect, it } from '@jest/globals';
import { encodeAbiParameters, stringToHex } from 'viem';
import {
  chooseVerification,
  VERIFICATION_MODES,
  type VerificationMode,
  type VerificationOffer,
} from './verification.js';
import { parseFinality } from './final-blocks.js';
import { decodeText } from './contract-facts.js';

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

describe('FINALITY', () => {
  it('is a tag or a depth', () => {
    expect(parseFinality('finalized')).toEqual({ kind: 'tag', tag: 'finalized' });
    expect(parseFinality('safe')).toEqual({ kind: 'tag', tag: 'safe' });
    expect(parseFinality('depth:12')).toEqual({ kind: 'depth', blocks: 12n });
    expect(() => parseFinality('depth:-1')).toThrow(/FINALITY must be/);
  });
});

const text = (value: string): string => encodeAbiParameters([{ type: 'string' }], [value]);

describe('a token’s symbol', () => {
  it.each([
    ['a string', text('SVC'), 'SVC'],
    ['a string beyond ASCII', text('₮ΞST'), '₮ΞST'],
    ['bytes32', stringToHex('MKR', { size: 32 }), 'MKR'],
    ['nothing', '0x', undefined],
    ['an empty string', text(''), undefined],
    ['control characters', text('A\u0000B'), undefined],
    ['no UTF-8', `0x${'ff'.repeat(32)}`, undefined],
    ['a length beyond the data', text('SVC').replace('03', '70'), undefined],
    ['an offset beyond the data', `0x${'f'.repeat(128)}`, undefined],
    ['a novel', text('x'.repeat(500)), undefined],
  ])('from %s', (_case, data, expected) => {
    expect(decodeText(data)).toBe(expected);
  });
});
