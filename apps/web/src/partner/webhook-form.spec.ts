import { expect, it } from '@jest/globals';
import { formOf, type WebhookForm, wishOf } from './webhook-form.js';

const URL = 'https://hooks.example/lowmark';
const FORM: WebhookForm = { url: URL, topics: ['day.sealed'] };

it('a webhook that is changed comes back as it was', () => {
  expect(wishOf(formOf(FORM))).toEqual({ body: FORM });
  expect(wishOf({ ...FORM, url: ` ${URL} ` })).toEqual({ body: FORM });
});

it('one without a topic is refused with what to do', () => {
  expect(wishOf({ ...FORM, topics: [] })).toEqual({ fault: expect.stringMatching(/one topic/) });
});
