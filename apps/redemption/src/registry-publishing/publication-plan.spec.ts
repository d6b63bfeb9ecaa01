import { describe, expect, it } from '@jest/globals';
import { type Publication, type PublishableDay, type SealedRange } from '#libs/db';
import { type Address, type BlockHash, type NodeHash } from '#libs/domain';
import {
  currentContent,
  leastReplacement,
  planFrom,
  type PlanRules,
  replacementPrice,
  stepOf,
} from './publication-plan.js';

const NOW = 10_000_000;
const rules: PlanRules = { delayMs: 1_000, nowMs: NOW };

function aDay(day: number, changes: Partial<PublishableDay> = {}): PublishableDay {
  const root = `0x${day.toString(16).padStart(64, '7')}` as NodeHash;
  return { day, revision: 1, root, sealedAt: new Date(NOW - 1_000), ...changes };
}
function sealed(first: number, count: number, recheckFrom?: number): SealedRange {
  return { days: Array.from({ length: count }, (_, at) => aDay(first + at)), recheckFrom };
}
const planned = (first: number, range: SealedRange) =>
  planFrom(first, range, rules).map(({ day }) => day);

describe('a plan', () => {
  it('of days ends at the first that is not ready', () => {
    expect(planned(100, sealed(100, 3))).toEqual([100, 101, 102]);
    expect(planned(100, sealed(101, 3))).toEqual([]);
    expect(planned(100, sealed(100, 3, 101))).toEqual([100]);
    const { days } = sealed(100, 3);
    const fresh = days.with(1, aDay(101, { sealedAt: new Date(NOW - 999) }));
    expect(planned(100, { days: fresh, recheckFrom: undefined })).toEqual([100]);
    const gap = days.filter(({ day }) => day !== 101);
    expect(planned(100, { days: gap, recheckFrom: undefined })).toEqual([100]);
  });
});

describe('what a publication would be now', () => {
  it('follows the newest revision', () => {
    const root = `0x${'9'.repeat(64)}` as NodeHash;
    const range = { days: [aDay(100, { revision: 2, root })], recheckFrom: undefined };
    expect(currentContent(100, range, rules)).toEqual({ day: 100, revision: 2, root });
  });

  it('is not known while a day is missing, fresh or being worked out again', () => {
    expect(currentContent(102, sealed(100, 3), rules)).toMatchObject({ day: 102, revision: 1 });
    for (const range of [sealed(100, 2), sealed(100, 3, 102), sealed(103, 3)]) {
      expect(currentContent(102, range, rules)).toBeUndefined();
    }
    expect(currentContent(102, sealed(100, 3), { ...rules, delayMs: 1_001 })).toBe(undefined);
  });
});

const node = (digit: string): NodeHash => `0x${digit.repeat(64)}` as NodeHash;
const account = `0x${'a'.repeat(40)}` as Address;
const other = `0x${'b'.repeat(40)}` as Address;
const SIGNED_AT = 1_000_000;
const stepRules = { account, finalNonce: 5, replaceMs: 1_000, nowMs: SIGNED_AT };

function aPublication(changes: Partial<Publication> = {}): Publication {
  return {
    ...{ day: 7, revision: 1, root: node('1') },
    ...{ stakeSet: 'default', status: 'sent', sender: { account, nonce: 5 } },
    transaction: {
      hash: node('f') as string as BlockHash,
      root: node('1'),
      gasPrice: 1n,
      gas: 1n,
      signedAt: new Date(SIGNED_AT),
    },
    ...{ dueAt: new Date(0), settledAt: null, reason: null, acknowledgedAt: null },
    ...changes,
  };
}
const unsigned = { sender: undefined, transaction: undefined };
const ours = node('1');
const theirs = node('2');
const none = { final: undefined, latest: [undefined, undefined] };

describe('the next step of a publication', () => {
  it.each([
    ['final once a final block holds it', {}, { final: ours, latest: [undefined] }, 'final'],
    ['different for ever', {}, { final: theirs, latest: [ours] }, 'different'],
    ['mined, as one endpoint says', {}, { final: undefined, latest: [undefined, ours] }, 'mined'],
    ['to wait while endpoints differ', {}, { final: undefined, latest: [theirs, ours] }, 'wait'],
    ['to be signed', { status: 'due', ...unsigned }, none, 'sign'],
    ['to be signed, taken back', { status: 'mined', ...unsigned }, none, 'unsigned'],
    ['to be sent again', {}, none, 'send'],
    ['to be sent again, taken back', { status: 'mined' }, none, 'send'],
    ['to be replaced with another root', { root: node('3') }, none, 'replace'],
    ['another key’s', { sender: { account: other, nonce: 5 } }, none, 'unsigned'],
    ['of a nonce that is used for good', { sender: { account, nonce: 4 } }, none, 'unsigned'],
  ] as const)('is %s', (_, changes, held, step) => {
    expect(stepOf(aPublication(changes as Partial<Publication>), held, stepRules)).toBe(step);
  });

  it('is to replace it after the time for that, and no earlier', () => {
    const after = (ms: number) => ({ ...stepRules, nowMs: SIGNED_AT + ms });
    expect(stepOf(aPublication(), none, after(999))).toBe('send');
    expect(stepOf(aPublication(), none, after(1_000))).toBe('replace');
  });
});

describe('the price of a replacement', () => {
  it.each([
    [100n, 50n, 1_000n, 150n],
    [100n, 400n, 1_000n, 400n],
    [100n, 400n, 120n, 120n],
    [100n, 400n, 113n, 113n],
    [100n, 400n, 112n, undefined],
    [0n, 0n, 10n, 1n],
  ])('after %d, where %d is asked and the cap is %d, is %d', (before, going, cap, price) => {
    expect(replacementPrice(before, going, cap)).toBe(price);
  });

  it('is an eighth more at least', () => {
    expect(leastReplacement(80n)).toBe(91n);
  });
});
