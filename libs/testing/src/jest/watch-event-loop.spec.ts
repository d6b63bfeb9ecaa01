import { spawnSync } from 'node:child_process';
import { expect, it } from '@jest/globals';

const WATCH = new URL('watch-event-loop.mjs', import.meta.url).href;

function run(code: string): { status: number | null; signal: string | null; stderr: string } {
  const program = `import { watchEventLoop } from '${WATCH}'; const tell = watchEventLoop(2000); ${code}`;
  const words = ['--input-type=module', '--eval', program];
  return spawnSync(process.execPath, words, { encoding: 'utf8', timeout: 60_000 });
}

it('names the test in which a loop does not end, and ends the process', () => {
  const { signal, stderr } = run(`tell('a test that ended'); tell('a search › ends');
    for (;;) await undefined;`);
  expect(signal).toBe('SIGKILL');
  expect(stderr).toBe('\nThe event loop stood still for 2 s. Killed in: a search › ends\n');
});

it('lets a process wait as long as it likes, and end', () => {
  const { status, signal, stderr } = run(`setTimeout(() => undefined, 3500);`);
  expect({ status, signal, stderr }).toEqual({ status: 0, signal: null, stderr: '' });
});
