import { expect, it } from '@jest/globals';
import { languageOf, schemeOf } from './serve-pages.js';

const LANGUAGES = ['en', 'de'] as const;

it.each([
  ['de-AT,de;q=0.9,en;q=0.8', {}, 'de'],
  ['fr-FR, de;q=0.5', {}, 'de'],
  ['fr', {}, 'en'],
  ['', {}, 'en'],
  ['de', { 'lowmark-language': 'en' }, 'en'],
  ['de', { 'lowmark-language': '"><script>' }, 'de'],
  [',;q=,'.repeat(5_000), {}, 'en'],
])('of %j with the cookies %j: %s', (accepted, cookies, language) => {
  expect(languageOf(accepted, cookies, [...LANGUAGES])).toBe(language);
});

it('without the header: the first', () => {
  expect(languageOf(undefined, {}, [...LANGUAGES])).toBe('en');
});

it.each([
  ['dark', 'dark'],
  ['light', 'light'],
  ['auto', ''],
  ['"><script>', ''],
])('the scheme %j is %j', (kept, scheme) => {
  expect(schemeOf({ 'lowmark-scheme': kept })).toBe(scheme);
});

it('without a choice: none', () => {
  expect(schemeOf({})).toBe('');
});
