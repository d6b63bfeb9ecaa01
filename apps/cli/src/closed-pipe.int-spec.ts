import { spawnSync } from 'node:child_process';
import { expect, it } from '@jest/globals';

it('ends quietly where nobody reads on, as with head', () => {
  const program = `"${process.execPath}" dist/apps/cli/src/main.js --help`;
  const { stderr } = spawnSync('bash', ['-c', `set -o pipefail; ${program} | true; echo $? >&2`], {
    encoding: 'utf8',
  });
  expect(stderr).toBe('0\n');
});
