import { expect, it } from '@jest/globals';
import { argumentsText } from './arguments-text.js';

it.each([
  [{}, ''],
  [{ name: 'Arena', rate: 20 }, 'name: Arena, rate: 20'],
  [
    { dailyTokenBudget: '300000', before: { dailyTokenBudget: '250000' } },
    'dailyTokenBudget: 250000 → 300000',
  ],
  [{ minPoints: '5', before: { minPoints: null } }, 'minPoints: none → 5'],
  [
    { callbackUrl: 'https://b.example', before: { url: 'https://a.example' } },
    'callbackUrl: https://b.example, url before: https://a.example',
  ],
])('%j is %j', (given, line) => {
  expect(argumentsText(given)).toBe(line);
});
