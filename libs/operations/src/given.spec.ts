/** Input of operators and pages, as it is checked before an operation. */
import { describe, expect, it } from '@jest/globals';
import { auditedText, OPERATOR_NAME } from './audit/audited.js';
import { parseClaimId, parseClaimNote } from './claims.js';
import { onlyCutsBudget, setsCallback } from './partners/callback.js';
import { KEY_PREFIX } from './partners/credentials.js';
import { isSettlementNote } from './redemptions/actions.js';

it('takes the beginning of a key, never a whole one', () => {
  const key = `svck_${'a'.repeat(43)}`;
  expect(KEY_PREFIX.test(key.slice(0, 12))).toBe(true);
  for (const text of [key, 'svck_', 'svck', `svck_a\n`, 'other_abc', '']) {
    expect(KEY_PREFIX.test(text)).toBe(false);
  }
});

it('takes names of operators that stay one word in the audit', () => {
  expect(OPERATOR_NAME.test('ann@example.org')).toBe(true);
  for (const text of ['', 'a b', 'a\n', 'ä', '<b>', '--help', '__proto__', 'a'.repeat(65)]) {
    expect(OPERATOR_NAME.test(text)).toBe(false);
  }
});

describe('a note', () => {
  it('of a settlement is one line that says something', () => {
    expect(isSettlementNote('agreed with Acme <legal@acme.example>')).toBe(true);
    for (const text of ['', '  ', 'a\nb', 'a\u0085b', 'a'.repeat(256)]) {
      expect(isSettlementNote(text)).toBe(false);
    }
  });

  it('of a claim is kept as the audit keeps it', () => {
    expect(parseClaimNote('  by hand\0 ')).toBe('by hand');
    expect(parseClaimNote('🎲'.repeat(255))).toBe('🎲'.repeat(255));
    expect(parseClaimNote('🎲'.repeat(256))).toBeUndefined();
    expect(parseClaimNote(' \0 ')).toBeUndefined();
    expect(auditedText('a'.repeat(300))).toHaveLength(255);
  });
});

it('knows the ids of claims, in whatever capitals', () => {
  const vaultId = `0x${'AB'.repeat(32)}`;
  expect(parseClaimId(vaultId)).toBe(vaultId.toLowerCase());
  expect(parseClaimId('0199D000-0000-7000-8000-0000000000AA')).toBe(
    '0199d000-0000-7000-8000-0000000000aa',
  );
  for (const text of ['', '0x12', `${vaultId}0`, '0199d000', "'"]) {
    expect(parseClaimId(text)).toBeUndefined();
  }
});

it('does not take what is accepted for something that is set', () => {
  expect(setsCallback({})).toBe(false);
  expect(setsCallback({ allowPrivate: true, url: undefined })).toBe(false);
  expect(setsCallback({ confirm: false })).toBe(true);
  expect(setsCallback({ maxPoints: 'none' })).toBe(true);
});

describe('a lower budget', () => {
  const tokens = (digits: bigint, scale = 0) => ({ digits, scale });
  const before = { dailyTokenBudget: tokens(100n) };

  it.each([
    ['a lower one', { dailyTokenBudget: tokens(99n) }, true],
    ['nothing a day', { dailyTokenBudget: tokens(0n) }, true],
    ['one of a finer scale', { dailyTokenBudget: tokens(9_999n, 2) }, true],
    ['the same', { dailyTokenBudget: tokens(1_000n, 1), allowPrivate: true }, true],
    ['a higher one', { dailyTokenBudget: tokens(10_001n, 2) }, false],
    ['none', { dailyTokenBudget: 'none' as const }, false],
    ['with a limit', { dailyTokenBudget: tokens(1n), maxPoints: 'none' as const }, false],
    ['with a capability', { dailyTokenBudget: tokens(1n), capabilities: [] }, false],
    ['without one', { maxPoints: 1n }, false],
    ['nothing at all', {}, false],
  ])('%s', (_, change, cuts) => {
    expect(onlyCutsBudget(before, change)).toBe(cuts);
    // Without a budget nothing can be redeemed, so any budget lets more tokens out.
    expect(onlyCutsBudget({}, change)).toBe(false);
    expect(onlyCutsBudget(undefined, change)).toBe(false);
  });
});
