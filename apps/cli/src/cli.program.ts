import { text } from 'node:stream/consumers';
import { ask } from './ask.js';
import { runCli } from './cli.js';

// `… | head` closes the pipe early: what was begun is finished all the same.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

process.exitCode = await runCli(process.argv.slice(2), {
  out: (written) => process.stdout.write(written),
  err: (written) => process.stderr.write(written),
  input: () => text(process.stdin),
  ...(process.stdin.isTTY && { ask }),
});
