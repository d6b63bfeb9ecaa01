import { type Clock } from '#libs/platform';
import { type Terminal } from '../commands/terminal.js';

const EVERY_MS = 2000;

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
