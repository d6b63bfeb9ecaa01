/** What is said of Redis: why it is down, and the commands that it needs. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { reasonOf } from './redis-link.js';
import { REDIS_COMMANDS } from './redis-uses.js';

describe('reasonOf', () => {
  it.each([
    [`NOPERM this user has no permissions to run the 'hget' command`, 'NOPERM +hget'],
    [`NOPERM User game has no permissions to run the 'mget' command`, 'NOPERM +mget'],
    [
      `NOPERM ACL failure in script: User game has no permissions to run the 'zadd' command`,
      'NOPERM +zadd',
    ],
    [
      'NOPERM this user has no permissions to access one of the keys used as arguments',
      'NOPERM ~lowmark:*',
    ],
    [`NOPERM User game has no permissions to access the 'lowmark:a' key`, 'NOPERM ~lowmark:*'],
    [`READONLY You can't write against a read only replica.`, 'READONLY'],
    [`ERR unknown command 'AUTH', with args beginning with: 'hunter2'`, 'ERR'],
    ['Connection is closed.', 'the connection failed'],
  ])('%s', (message, reason) => {
    expect(reasonOf(new Error(message))).toBe(reason);
  });

  it.each([
    ['ERR max number of clients reached', 'eval', 'ERR max number of clients reached'],
    ['ERR DB index is out of range', 'select', 'ERR DB index is out of range'],
    [`ERR unknown command 'evalsha', with args beginning with: 'x'`, 'evalsha', 'ERR (evalsha)'],
    ['ERR invalid password hunter', 'auth', 'ERR (auth)'],
    ['no upstream host', 'eval', 'refused no upstream host'],
    [`unsupported command 'evalsha'`, 'evalsha', 'refused (evalsha)'],
  ])('%s to the command %s', (message, name, reason) => {
    expect(
      reasonOf(Object.assign(new Error(message), { name: 'ReplyError', command: { name } })),
    ).toBe(reason);
  });

  it('is the code of an error of the system', () => {
    expect(reasonOf(Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }))).toBe(
      'ECONNREFUSED',
    );
  });
});

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
