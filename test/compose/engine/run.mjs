/** Runs programs for the files of this folder. */
import { spawnSync } from 'node:child_process';

/** Runs a command and drops its output. @returns whether the command succeeded */
export function succeeds(program, words, environment = {}) {
  return capture(program, words, environment).status === 0;
}

/** @returns status and output of a command */
export function capture(program, words, environment = {}) {
  const { status, stdout, stderr } = spawnSync(program, words, {
    encoding: 'utf8',
    env: { ...process.env, ...environment },
    maxBuffer: 64 * 1024 * 1024,
  });
  return { status, stdout: stdout ?? '', stderr: stderr ?? '' };
}

/** Runs a command. @returns its output @throws Error with the command's output where the command fails */
export function run(program, words, { environment = {}, ...options } = {}) {
  const { status, stdout, stderr, error } = spawnSync(program, words, {
    encoding: 'utf8',
    env: { ...process.env, ...environment },
    maxBuffer: 64 * 1024 * 1024,
    ...options,
  });
  if (status === 0) return stdout ?? '';
  const output = [stdout, stderr, error?.message].filter(Boolean).join('\n').trim();
  throw new Error(`${program} ${words.slice(0, 4).join(' ')} failed:\n${output.slice(-3000)}`);
}
