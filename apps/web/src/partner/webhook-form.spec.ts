import { expect, it } from '@jest/globals';
import { formOf, type WebhookForm, wishOf } from './webhook-form.js';

const URL = 'https://hooks.example/lowmark';
const TIERS: WebhookForm = {
  ...{ url: URL, topics: ['wallet.tier-changed'], measure: 'low', days: '7' },
  ...{ thresholds: '1000\n5000\n', hysteresis: '100' },
};
const RULE = { measure: 'low', days: 1, thresholds: ['1000', '5000'], hysteresis: '100' };

it('a rule is sent with the topic that needs it, and only with it', () => {
  expect(wishOf({ ...TIERS, url: ` ${URL} ` })).toEqual({
    body: { url: URL, topics: ['wallet.tier-changed'], rule: RULE },
  });
  expect(wishOf({ ...TIERS, topics: ['day.sealed'] })).toEqual({
    body: { url: URL, topics: ['day.sealed'] },
  });
});

it('days are those of an average', () => {
  expect(wishOf({ ...TIERS, measure: 'average' })).toMatchObject({ body: { rule: { days: 7 } } });
  expect(wishOf({ ...TIERS, measure: 'balance' })).toMatchObject({ body: { rule: { days: 1 } } });
});

it('a webhook that is changed comes back as it was', () => {
  const rule = { ...RULE, measure: 'average' as const, days: 30 };
  const webhook = { url: URL, topics: [...TIERS.topics], rule };
  expect(wishOf(formOf(webhook))).toEqual({ body: webhook });
});

it.each<[Partial<WebhookForm>, RegExp]>([
  [{ topics: [] }, /one topic/],
  [{ thresholds: '' }, /1 to 20 thresholds/],
  [{ thresholds: '1'.repeat(79) }, /whole numbers/],
  [{ thresholds: '9'.repeat(78) }, /2\^256/],
  [{ thresholds: '5000\n1000' }, /ascending/],
  [{ thresholds: '1e3' }, /whole numbers/],
  [{ thresholds: '٣' }, /whole numbers/],
  [{ thresholds: Array.from({ length: 21 }, (_, one) => 101 + one).join('\n') }, /1 to 20/],
  [{ hysteresis: '' }, /whole numbers/],
  [{ hysteresis: '-1' }, /whole numbers/],
  [{ hysteresis: '1000' }, /less than the first/],
  [{ measure: 'average', days: '1' }, /2 to 30/],
  [{ measure: 'average', days: '31' }, /2 to 30/],
  [{ measure: 'average', days: '2.5' }, /whole number/],
])('%j is refused with what to do', (change, fault) => {
  expect(wishOf({ ...TIERS, ...change })).toEqual({ fault: expect.stringMatching(fault) });
});
