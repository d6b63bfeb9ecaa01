import { expect, it } from '@jest/globals';
import { namedField } from './named-field.js';

const LABELS = {
  url: 'Callback URL',
  usdPerPoint: 'USD per point',
  bonusFrom: 'Bonus from points',
  bonusRate: 'Bonus rate',
  allowPrivate: 'Development: accept http',
};

it.each([
  ['usdPerPoint must be a decimal.', 'usdPerPoint', 'USD per point: must be a decimal.'],
  ['callback.url is too long.', 'url', 'Callback URL: is too long.'],
  [
    'A bonus needs both --bonus-from and --bonus-rate.',
    undefined,
    'A bonus needs both “Bonus from points” and “Bonus rate”.',
  ],
  [
    'It must be https. For development only, --allow-private takes it.',
    undefined,
    'It must be https. For development only, “Development: accept http” takes it.',
  ],
  ['Set --callback-url first, --json or -h.', undefined, 'Set “Callback URL” first, --json or -h.'],
  ['constructor is none.', undefined, 'constructor is none.'],
  ['', undefined, ''],
])('%s', (given, field, message) => {
  expect(namedField(given, LABELS)).toEqual({ field, message });
});
