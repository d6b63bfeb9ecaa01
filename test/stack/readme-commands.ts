/** Runs the commands of the README in a shell, with a running stack. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type ShellBlock, shellBlocks } from '../operating/machine/shell-blocks.js';

/**
 * The blocks for which the README tells the reader to run a printed line of the stack first. All of them are run, and
 * no others.
 */
export const README_BLOCKS: readonly ShellBlock[] = shellBlocks('README.md').filter(({ code }) =>
  /^(curl -s -D headers|ask\(\) |rpc )/.test(code),
);

/** Waits for the end of the redemption `$id`. */
export const UNTIL_FINAL =
  'until [[ $(ask "$url/api/redemptions/$id" | field status) =~ ^(claimed|reverted|failed)$ ]]; do sleep 0.3; done';

export interface TypedCommands {
  readonly output: string;
  /** Final status of the redemption. */
  readonly status: string;
}

/** @param screen output of the stack */
export async function typeReadmeCommands(screen: string): Promise<TypedCommands> {
  const lines = screen.split('\n').map((line) => line.trim());
  const given = lines.filter((line) => /^(export STAKING_URL|url)=\S+ /.test(line));
  const script = [
    'set -e -o pipefail',
    ...given.map((line) => line.replace(/^export /, '').replaceAll(' ', '\n')),
    ...README_BLOCKS.map(({ code }) => code),
    UNTIL_FINAL,
    'echo; echo "STATUS $(ask "$url/api/redemptions/$id" | field status)"',
  ].join('\n');
  const folder = await mkdtemp(join(tmpdir(), 'lowmark-readme-'));
  try {
    const { stdout } = await promisify(execFile)('bash', ['--norc', '-c', script], { cwd: folder });
    return { output: stdout, status: /^STATUS (\w+)$/m.exec(stdout)?.[1] ?? '' };
  } finally {
    await rm(folder, { recursive: true });
  }
}
