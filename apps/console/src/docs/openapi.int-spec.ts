import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ConsoleBench } from '../testing/console-harness.support.js';
import { openApiOf } from './openapi.js';

let bench: ConsoleBench;
beforeAll(async () => {
  bench = await ConsoleBench.start();
});
afterAll(() => bench.stop());

it('the stored contract is that of the console: npm run openapi', () => {
  const stored: unknown = JSON.parse(readFileSync('docs/wire/console-openapi.json', 'utf8'));
  expect(openApiOf(bench.app)).toEqual(stored);
});
