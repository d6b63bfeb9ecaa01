import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { nodeFault } from './node-version.js';

it('demands what package.json does', () => {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  const { engines } = JSON.parse(text) as { engines: { node: string } };
  expect(engines.node).toBe('>=22.19');
  expect(nodeFault('22.18.9')).toContain('needs 22.19 or newer');
  expect(nodeFault('22.19.0')).toBeUndefined();
});

it.each(['18.20.8', '20.20.2', '21.99.0', '22.9.0'])('refuses %s', (version) => {
  expect(nodeFault(version)).toMatch(new RegExp(`^This is Node ${version}, .*\\.$`));
});

it.each(['22.20.1', '23.0.0', '24.21.0', '100.1.0', '25.0.0-nightly20260101'])(
  'takes %s',
  (version) => {
    expect(nodeFault(version)).toBeUndefined();
  },
);
