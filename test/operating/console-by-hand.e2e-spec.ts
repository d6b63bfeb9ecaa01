/** Runs the command of docs/operating/console.md that serves the pages in a shell. Only host names are replaced. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { freePort } from '#libs/devprocess';
import { eventually } from '#libs/testing/clock';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { compileCache } from '#libs/testing/programs';
import { read } from '../partner-docs/markdown.js';
import { shellBlocks } from './machine/shell-blocks.js';

const PAGE = 'docs/operating/console.md';
const ORIGIN = 'https://play.example.com';
const START_MS = 60_000;

let test: TestDatabase;
let port: number;
let stop: () => Promise<void>;

beforeAll(async () => {
  test = await createTestDatabase();
  port = await freePort();
  const [block, ...others] = shellBlocks(PAGE).filter(({ code }) => code.includes('start:console'));
  expect(others).toEqual([]);
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  // The command runs without its build step, which would delete files that other tests run.
  const [build, program] = (scripts['start:console'] ?? '').split(' && ');
  expect(build).toBe('npm run --silent build:stale');
  const typed = (block?.code ?? '')
    .replace('postgresql://lowmark_console_web:…@db/lowmark', `'${test.urlAs('console')}'`)
    .replace('http://redemption:3002', 'http://127.0.0.1:1')
    .replace('npm run start:console', program ?? '');
  expect(typed).not.toMatch(/npm|…/);
  const shell = spawn('bash', ['-c', typed], {
    // A separate process group, so that the program ends with the shell.
    detached: true,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...compileCache(),
      PATH: process.env['PATH'],
      CONSOLE_PORT: String(port),
      LISTEN_HOST: '127.0.0.1',
      LOG_LEVEL: 'fatal',
    },
  });
  stop = async () => {
    if (shell.exitCode !== null || shell.signalCode !== null || shell.pid === undefined) return;
    process.kill(-shell.pid, 'SIGTERM');
    await once(shell, 'exit');
  };
  const what = 'the pages';
  await eventually(async () => (await ask('/health/accepting')).status === 200, {
    ...{ what, withinMs: START_MS, everyMs: 100 },
  });
}, START_MS * 2);
afterAll(async () => {
  await stop();
  await test.drop();
});

async function ask(path: string, options: RequestInit = {}): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}${path}`, options).catch(
    () => new Response('', { status: 599 }),
  );
}

describe('the command of console.md', () => {
  it.each(['/redeem', '/operate', '/partner'])('serves %s', async (path) => {
    const answer = await ask(path);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(await answer.text()).toContain('<div id="root">');
  });

  it('tells the page of the network that was set', async () => {
    const answer = await ask('/player/config');
    expect(await answer.json()).toMatchObject({ network: { name: 'Base' } });
  });

  it('takes what changes something from the origin that was set, and from no other', async () => {
    const nonce = async (origin: string): Promise<Response> =>
      ask('/api/auth/wallet/nonce', {
        method: 'POST',
        headers: { origin, 'sec-fetch-site': 'same-origin', 'x-csrf-token': 'none' },
      });
    expect((await nonce(ORIGIN)).status).toBe(200);
    const foreign = await nonce(`http://127.0.0.1:${port}`);
    expect([foreign.status, await foreign.json()]).toEqual([
      403,
      expect.objectContaining({ code: 'FOREIGN_ORIGIN' }),
    ]);
  });
});
