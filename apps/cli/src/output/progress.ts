import { type Clock } from '#libs/platform';
import { type Terminal } from '../command.js';

const EVERY_MS = 2000;
/** With the time that the program takes to start, the first line comes within two seconds. */
const FIRST_MS = 1000;

/** Says on the error stream how far a command is, where it takes more than two seconds, and no more often than that. */
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
 * Says on the error stream what a command is at: first after a second, then every two seconds, also while one step of it waits for an
 * answer. A command that is done before says nothing.
 */
export async function tellingWhile<T>(
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
