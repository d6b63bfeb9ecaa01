import { describe, expect, it } from '@jest/globals';
import { parsePoints } from '../../format/amount.js';
import { entryProblem, rangeOf } from './points-entry.js';

describe('a number of points', () => {
  it.each([
    ['', undefined],
    ['  ', undefined],
    ['1', undefined],
    ['1,000', undefined],
    ['1.000', undefined],
    ['1001', 'too-many'],
    ['9007199254740991', 'too-many'],
    ['9007199254740992', 'too-many'],
    ['99999999999999999999', 'too-many'],
    ['99,999,999,999,999,999,999', 'too-many'],
    ['0', 'too-few'],
    ['000', 'too-few'],
    ['-5', 'too-few'],
    ['− 5', 'too-few'],
    ['12.5', 'not-a-number'],
    ['1e3', 'not-a-number'],
    ['0x10', 'not-a-number'],
    ['٣', 'other-digits'],
    ['１２', 'other-digits'],
    ['1٠', 'other-digits'],
    ['ten', 'not-a-number'],
    ['-', 'not-a-number'],
    ['<b>5</b>', 'not-a-number'],
  ] as const)('%p of 1,000 is %p', (text, expected) => {
    expect(entryProblem(text, parsePoints(text), 1000)).toBe(expected);
  });
});

describe('how many can be redeemed', () => {
  it('is no more than there are, and no more than is allowed', () => {
    const limits = { minPoints: 10, maxPoints: 14_695_882 };
    expect(rangeOf(limits, 1_000_000)).toEqual({ min: 10, max: 1_000_000 });
    expect(rangeOf(limits, 20_000_000)).toEqual({ min: 10, max: 14_695_882 });
    expect(rangeOf({ ...limits, maxPoints: 0 }, 1000)).toBeUndefined();
    expect(rangeOf(undefined, 1000)).toBeUndefined();
  });
});
