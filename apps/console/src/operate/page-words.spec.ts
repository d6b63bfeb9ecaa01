import { expect, it } from '@jest/globals';
import { inPageWords } from './page-words.js';

it('names the fields of the page where the command line has options', () => {
  expect(inPageWords('For development only, --allow-private takes it.')).toBe(
    'For development only, the box “Development: accept http and private addresses” takes it.',
  );
  expect(inPageWords('A bonus needs both --bonus-from and --bonus-rate.')).toBe(
    'A bonus needs both “Bonus from points” and “Bonus rate”.',
  );
  expect(
    inPageWords('A callback needs --callback-url and --callback-key (both also as -file).'),
  ).toBe('A callback needs “Callback URL” and “Callback key”.');
});
