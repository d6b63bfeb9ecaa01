import { createInterface } from 'node:readline/promises';
import { text } from 'node:stream/consumers';
import { runCli } from './cli.js';

// `… | head` closes the pipe early; the command still completes its work.
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

/** Asks the person at the terminal. End of input and an interrupt count as an empty answer. */
async function ask(question: string): Promise<string> {
  // The question goes to the error stream, since the output may go to a file.
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  // At the end of the input `question` would never settle.
  const ended = new Promise<string>((resolve) => {
    asking.once('close', () => {
      process.stderr.write('\n');
      resolve('');
    });
  });
  const answered = asking.question(question).catch((error: unknown) => {
    if (error instanceof Error && error.name === 'AbortError') return '';
    throw error;
  });
  const answer = await Promise.race([answered, ended]);
  asking.removeAllListeners('close').close();
  return answer;
}
