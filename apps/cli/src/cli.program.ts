import { createInterface } from 'node:readline/promises';
import { text } from 'node:stream/consumers';
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

/** Puts a question to the person at the terminal; the end of the input and an interrupt are an empty answer. */
async function ask(question: string): Promise<string> {
  // To the error stream: the output may go into a file.
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  // Otherwise the question would stay open for ever.
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
