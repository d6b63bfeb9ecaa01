/** Tests what ./lowmark does without an engine. `npm run test:compose` tests it on a real engine. */
import { spawnSync } from 'node:child_process';
import { expect, it } from '@jest/globals';
import { ROOT } from './compose-file.js';

function bash(...words: readonly string[]): { code: number | null; out: string; err: string } {
  const { status, stdout, stderr } = spawnSync('bash', words, { cwd: ROOT, encoding: 'utf8' });
  return { code: status, out: stdout, err: stderr };
}

it('takes no option that it does not know for none', () => {
  const { code, err } = bash('lowmark', 'upgrade', '--nobackup');
  expect(code).toBe(1);
  expect(err).toContain('--no-backup and --no-build');
});

it.each([
  ['./lowmark', ['restore', 'absent.dump']],
  ['./lowmark local', ['local', 'restore', 'absent.dump']],
])('names the commands of %s', (me, words) => {
  const { code, err } = bash('lowmark', ...words);
  expect([code, err]).toEqual([1, `lowmark: which dump? ${me} restore FILE\n`]);
});

it.each([
  ['lowmark:local', 'lowmark:before'],
  ['registry.example:5000/lowmark', 'registry.example:5000/lowmark:before'],
  ['registry.example:5000/lowmark:1.2.0', 'registry.example:5000/lowmark:before'],
  [`lowmark@sha256:${'a'.repeat(64)}`, 'lowmark:before'],
  [`registry.example/lowmark:1.2.0@sha256:${'a'.repeat(64)}`, 'registry.example/lowmark:before'],
])('keeps %s as %s', (image, kept) => {
  const keptImage = `$(sed -n '/^kept_image() {/,/^}/p' lowmark)`;
  const script = `setting() { echo '${image}'; }; eval "${keptImage}"; kept_image`;
  expect(bash('-euo', 'pipefail', '-c', script)).toEqual({ code: 0, out: `${kept}\n`, err: '' });
});

it('says that a long command still runs, and prints its output only if it fails', () => {
  const script = (command: string): string =>
    [
      `eval "$(sed -n '/^patiently() {/,/^}/p' lowmark)"`,
      'say() { echo "$*" >&2; }',
      // A test does not wait for the seconds of an operator.
      'sleep() { SECONDS=$((SECONDS + $1 * ${pace:-0})); command sleep 0.05; }',
      command,
    ].join('; ');
  const run = (command: string): ReturnType<typeof bash> =>
    bash('-euo', 'pipefail', '-c', script(command));
  expect(run('patiently bash -c "echo built"')).toEqual({ code: 0, out: '', err: '' });
  expect(run('patiently bash -c "echo broken; exit 3"')).toEqual({
    code: 3,
    out: '',
    err: 'broken\n',
  });
  const slow = run('pace=20; patiently command sleep 0.1');
  expect(slow.err).toMatch(/^… 20 s\n/);
});
