import { describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const script = fileURLToPath(new URL('compile.mjs', import.meta.url));

describe('contracts/compile.mjs', () => {
  it('gives exactly the files that are committed', async () => {
    const run = promisify(execFile)(process.execPath, [script, '--check']);
    await expect(run).resolves.toEqual({ stdout: '', stderr: '' });
  });
});
