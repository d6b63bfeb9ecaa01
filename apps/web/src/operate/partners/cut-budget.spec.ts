import { expect, it } from '@jest/globals';
import { onlyCutsBudget } from './cut-budget.js';

const before = { dailyTokenBudget: '100' };

it.each([
  ['99.99', {}, true],
  ['100.0', { allowPrivate: true }, true],
  ['0', {}, true],
  ['100.01', {}, false],
  ['1000', {}, false],
  ['none', {}, false],
  ['much', {}, false],
  ['5', { maxPoints: '9' }, false],
])('%s with %j is a mere cut: %s', (dailyTokenBudget, others, expected) => {
  const change = { callback: { dailyTokenBudget, ...others } };
  expect(onlyCutsBudget(before, change)).toBe(expected);
  expect(onlyCutsBudget({ ...before, dailyTokenBudget: '' }, change)).toBe(false);
  expect(onlyCutsBudget(before, {})).toBe(false);
});
