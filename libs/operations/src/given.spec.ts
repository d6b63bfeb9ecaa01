/** Input of operators and pages, as it is checked before an operation. */
import { describe, expect, it } from '@jest/globals';
import { auditedText, OPERATOR_NAME } from './audit/audited.js';
import { parseClaimId } from './claims.js';
import { keptNote } from './operation/page-fields.js';
import { KeyRing, mintSecretsKey } from '#libs/signing';
import { OptionError } from './operation.error.js';
import {
  type CallbackValues,
  mergeCallback,
  onlyCutsBudget,
  setsCallback,
} from './partners/callback.js';
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
    expect(keptNote('  by hand\0 ')).toBe('by hand');
    expect(keptNote('🎲'.repeat(255))).toBe('🎲'.repeat(255));
    expect(keptNote('🎲'.repeat(256))).toBeUndefined();
    expect(keptNote(' \0 ')).toBeUndefined();
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
  expect(setsCallback({ allowPrivate: true })).toBe(false);
  expect(setsCallback({ confirm: false })).toBe(true);
  expect(setsCallback({ maxPoints: 'none' })).toBe(true);
});

describe('a lower budget', () => {
  const before = { dailyTokenBudget: { digits: 100n, scale: 0 } };

  it.each([
    ['a lower one', { dailyTokenBudget: '99' }, true],
    ['nothing a day', { dailyTokenBudget: '0' }, true],
    ['one of a finer scale', { dailyTokenBudget: '99.99' }, true],
    ['the same', { dailyTokenBudget: '100.0', allowPrivate: true }, true],
    ['a higher one', { dailyTokenBudget: '100.01' }, false],
    ['none', { dailyTokenBudget: 'none' }, false],
    ['with a limit', { dailyTokenBudget: '1', maxPoints: 'none' }, false],
    ['with a capability', { dailyTokenBudget: '1', capabilities: [] }, false],
    ['without one', { maxPoints: '1' }, false],
    ['nothing at all', {}, false],
  ])('%s', (_, change, cuts) => {
    expect(onlyCutsBudget(before, change)).toBe(cuts);
    // Without a budget nothing can be redeemed, so any budget lets more tokens out.
    expect(onlyCutsBudget({}, change)).toBe(false);
    expect(onlyCutsBudget(undefined, change)).toBe(false);
  });
});

describe('a refusal that names fields', () => {
  const keyRing = KeyRing.parse(mintSecretsKey().toString('base64'));
  const refusalOf = (change: CallbackValues): OptionError => {
    try {
      mergeCallback(undefined, { change, keyRing, partnerName: 'Acme' });
    } catch (error) {
      if (error instanceof OptionError) return error;
    }
    throw new TypeError('it was not refused');
  };
  const whole = { url: 'https://game.example', key: 'k', secret: 's', usdPerPoint: '1' };

  it.each<[CallbackValues, string, string]>([
    [
      {},
      'A callback needs --callback-url, --callback-key, --callback-secret and --usd-per-point the first time.',
      'A callback needs “Callback URL”, “Callback key”, “Callback secret” and “USD per point” the first time.',
    ],
    [
      { ...whole, bonusRate: '0.1' },
      'A bonus needs both --bonus-from and --bonus-rate.',
      'A bonus needs both “Bonus from points” and “Bonus rate”.',
    ],
    [
      { ...whole, bonusFrom: 'none', bonusRate: '0.1' },
      '--bonus-from none takes no --bonus-rate.',
      '“Bonus from points” none takes no “Bonus rate”.',
    ],
  ])('%j', (change, ofCommand, ofPage) => {
    const error = refusalOf(change);
    expect(error.message).toBe(ofCommand);
    expect(error.onPages).toBe(ofPage);
  });
});
