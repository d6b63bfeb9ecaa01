import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { REDIS_COMMANDS } from './redis-uses.js';

describe('REDIS_COMMANDS', () => {
  it('are those of libs/cache, and those of the page for operators', () => {
    const folder = 'libs/cache/src';
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.endsWith('.ts') && !name.endsWith('-spec.ts'),
    );
    const source = files.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n');
    const called = [...source.matchAll(/redis\.(?:call\('([A-Z]+)'|([a-z]+)\()/g)]
      .map(([, inScript, sent]) => (inScript ?? sent ?? '').toLowerCase())
      .filter((name) => !['connect', 'disconnect', 'on', 'call', 'pcall', ''].includes(name));
    expect([...REDIS_COMMANDS].sort()).toEqual([...new Set(called)].sort());
    const page = readFileSync('docs/operating/scaling.md', 'utf8');
    for (const command of REDIS_COMMANDS) expect(page).toContain(`\`${command.toUpperCase()}\``);
  });
});
