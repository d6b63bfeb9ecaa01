/**
 * Tests `npm start` where npm is ended by its process id: npm's shell ends too, and the stack loses its parent. Needs a
 * build.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { freePort } from '#libs/devprocess';
import { RunningStack, STACK_PORTS } from '../stack/running-stack.js';

const LIMIT_MS = 60_000;
let directory: string;
const environment: Record<string, string> = {};
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lowmark-npm-ended-'));
  for (const name of STACK_PORTS) environment[name] = String(await freePort());
});
afterAll(() => rm(directory, { recursive: true, force: true }));

it(
  'ends as after a Ctrl-C when its parent is gone',
  async () => {
    // The command line that npm uses. The second command keeps the shell from replacing itself with the program.
    const script = `'${process.execPath}' '${resolve(RunningStack.PROGRAM)}'; exit $?`;
    const shell = spawn('sh', ['-c', script], {
      cwd: directory,
      env: { ...process.env, ...environment, npm_lifecycle_event: 'start' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    shell.stdout.on('data', (chunk: Buffer) => {
      // The first output comes after the stack has started to watch its parent.
      if (output === '') shell.kill('SIGTERM');
      output += chunk.toString('utf8');
    });
    // The pipe closes when the last process with an open end of it has ended.
    await once(shell, 'close');
    expect(shell.signalCode).toBe('SIGTERM');
    expect(output).toContain('has ended; npm start goes on from here');
  },
  LIMIT_MS,
);
