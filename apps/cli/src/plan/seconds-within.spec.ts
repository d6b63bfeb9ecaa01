import { expect, it } from '@jest/globals';
import { secondsWithin } from './seconds-within.js';

const CALLS = { eth_getLogs: 600, eth_getBlockByNumber: 400, eth_call: 0, eth_getBlockReceipts: 0 };
const NAMES = ['a.example', 'b.example', 'c.example'];

/** @param perSecond calls in a second by endpoint; undefined is no budget */
function secondsOf(
  mode: 'two' | 'total',
  perSecond: readonly (number | undefined)[],
  endpoints: readonly string[] = NAMES.slice(0, perSecond.length),
): number {
  const budgets = perSecond.map((calls) =>
    calls === undefined ? undefined : { unit: 'calls' as const, perSecond: calls },
  );
  return secondsWithin({ endpoints, budgets }, CALLS, mode);
}

it.each([
  ['one', [10], 100],
  ['two', [10, 40], 20],
  ['one without a budget', [10, undefined], 0],
])('shares the work by budget: %s', (_, perSecond, seconds) => {
  expect(secondsOf('total', perSecond)).toBeCloseTo(seconds);
});

it.each([
  ['two that are as fast', [10, 10], 50],
  ['two, the slower one counts', [10, 40], 50],
  ['two, one without a budget', [10, undefined], 50],
  ['three: a slow one takes a small part', [100, 100, 1], 1000 / 201],
  ['three, of which the fastest reads every range', [100, 10, 5], 500 / 15],
  ['three, one without a budget', [undefined, 10, 15], 20],
  ['three, two without a budget', [undefined, undefined, 1], 0],
])('reads each range from two providers: %s', (_, perSecond, seconds) => {
  expect(secondsOf('two', perSecond)).toBeCloseTo(seconds);
});

it('compares no endpoint with another one of its provider', () => {
  const endpoints = ['a.example#1', 'a.example#2', 'b.example'];
  expect(secondsOf('two', [10, 10, 10], endpoints)).toBeCloseTo(50);
});
