/** A program whose file descriptors are used up. Needs a build. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterEach, expect, it } from '@jest/globals';
import { freePort } from '#libs/devprocess';
import { eventually } from '#libs/testing/clock';
import { compileCache } from '#libs/testing/programs';

let program: ChildProcess | undefined;
afterEach(() => {
  program?.kill('SIGKILL');
});

/** Sets the soft limit of a process that runs. */
function limitDescriptors(pid: number | undefined, soft: string): void {
  execFileSync('prlimit', ['--pid', String(pid), `--nofile=${soft}:`]);
}

it('says so once, and that there are some again, and ends as ever', async () => {
  const port = await freePort();
  program = spawn(process.execPath, ['dist/apps/console/src/main.js'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...compileCache(),
      DATABASE_URL: 'postgresql://a:b@127.0.0.1:1/c',
      CONSOLE_PORT: String(port),
      CONSOLE_ORIGIN: `http://127.0.0.1:${port}`,
      LISTEN_HOST: '127.0.0.1',
    },
  });
  const lines: string[] = [];
  if (program.stdout === null) throw new Error('The output is piped');
  createInterface(program.stdout).on('line', (line) => lines.push(line));
  const says = (text: string) => () => lines.some((line) => line.includes(text));
  await eventually(says('Serving'));
  const [, hard = ''] = descriptorLimits(program.pid);

  limitDescriptors(program.pid, '3');
  await eventually(says('No file descriptors are left'));
  limitDescriptors(program.pid, hard);
  await eventually(says('There are file descriptors again'));
  expect((await fetch(`http://127.0.0.1:${port}/health/live`)).status).toBe(200);

  program.kill('SIGTERM');
  const [code] = (await once(program, 'exit')) as [number];
  expect(code).toBe(0);
});

/** @returns the soft and the hard limit of a process */
function descriptorLimits(pid: number | undefined): string[] {
  const columns = ['--raw', '--noheadings', '--output', 'SOFT,HARD', '--nofile'];
  return execFileSync('prlimit', ['--pid', String(pid), ...columns], { encoding: 'utf8' })
    .trim()
    .split(' ');
}
