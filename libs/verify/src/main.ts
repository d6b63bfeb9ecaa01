#!/usr/bin/env node
/** The program `lowmark-verify`. It is published on its own and reads its variables itself, without `libs/config`. */
import process, { argv, env, stderr, stdout } from 'node:process';
import { runCli } from './run-cli.js';

process.exitCode = await runCli({
  args: argv.slice(2),
  environment: env,
  out: (text) => void stdout.write(text),
  err: (text) => void stderr.write(text),
});
