/** Runs the commands of README.md and of the quick start for which the stack prints variables, in a shell. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type ShellBlock, shellBlocks } from '../operating/machine/shell-blocks.js';

/** The blocks before which the pages tell the reader to paste a printed line of the stack. */
export const STACK_BLOCKS: readonly ShellBlock[] = [
  ...shellBlocks('README.md').filter(({ code }) => code.startsWith('curl -s -D headers')),
  ...shellBlocks('docs/partners/quick-start.md').filter(({ code }) => /^(ask\(\)|rpc) /.test(code)),
];

/** Waits for the end of the redemption `$id`. */
export const UNTIL_FINAL =
  'until [[ $(ask "$url/api/redemptions/$id" | field status) =~ ^(claimed|reverted|failed)$ ]]; do sleep 0.3; done';

export interface TypedCommands {
  readonly output: string;
  /** Final status of the redemption. */
  readonly status: string;
}

/** @param screen output of the stack */
export async function typeStackCommands(screen: string): Promise<TypedCommands> {
  const lines = screen.split('\n').map((line) => line.trim());
  const given = lines.filter((line) => /^(export STAKING_URL|url)=\S+ /.test(line));
  const script = [
    'set -e -o pipefail',
    ...given.map((line) => line.replace(/^export /, '').replaceAll(' ', '\n')),
    ...STACK_BLOCKS.map(({ code }) => code),
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
