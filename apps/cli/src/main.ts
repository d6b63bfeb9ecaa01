import { text } from 'node:stream/consumers';
import { ask } from './ask.js';
import { runCli } from './cli.js';

process.exitCode = await runCli(process.argv.slice(2), {
  out: (written) => process.stdout.write(written),
  err: (written) => process.stderr.write(written),
  input: () => text(process.stdin),
  ...(process.stdin.isTTY && { ask }),
});
