#!/usr/bin/env node
/**
 * The program `lowmark-conformance`. It is published on its own and reads its variables itself, without `libs/config`.
 */
import process, { argv, env, stderr, stdout } from 'node:process';
import { runCli } from './cli/run-cli.js';

const listeners: (() => void)[] = [];
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    for (const listener of listeners) listener();
  });
}

process.exitCode = await runCli({
  args: argv.slice(2),
  environment: env,
  out: (text) => void stdout.write(text),
  err: (text) => void stderr.write(text),
  onInterrupt: (listener) => void listeners.push(listener),
});
