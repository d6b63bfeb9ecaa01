import { type Clock } from '#libs/platform';
import { type Terminal } from '../command.js';

const EVERY_MS = 2000;
/** Together with the start of the program, the first line appears within two seconds. */
const FIRST_MS = 1000;

/** Returns a function that writes the progress of a command to the error stream, at most every two seconds. */
export function progressOf(terminal: Terminal, clock: Clock): (said: string) => void {
  let lastMs = clock.nowMs();
  return (said) => {
    const nowMs = clock.nowMs();
    if (nowMs - lastMs < EVERY_MS) return;
    lastMs = nowMs;
    terminal.err(`${said}…\n`);
  };
}

/**
 * Writes the current step of a command to the error stream: first after a second, then every two seconds, even while a
 * step waits for an answer. A command that ends within the first second writes nothing.
 */
export async function withProgress<T>(
  terminal: Terminal,
  work: (isAt: (step: string) => void) => Promise<T>,
): Promise<T> {
  let step: string | undefined;
  let timer: NodeJS.Timeout;
  const tell = (): void => {
    if (step !== undefined) terminal.err(`${step}…\n`);
    timer = setTimeout(tell, EVERY_MS);
  };
  timer = setTimeout(tell, FIRST_MS);
  try {
    return await work((said) => {
      step = said;
    });
  } finally {
    clearTimeout(timer);
  }
}
