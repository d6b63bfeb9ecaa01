import { PermanentError } from '#libs/domain';
import { type Terminal } from '../commands/terminal.js';

export class NotConfirmedError extends PermanentError {
  constructor(message: string) {
    super('NOT_CONFIRMED', message);
  }
}

/** Lets a person say yes to what cannot be taken back. @throws NotConfirmedError */
export async function confirmed(terminal: Terminal, consequence: string): Promise<void> {
  if (terminal.ask === undefined) {
    throw new NotConfirmedError(`${consequence} Nobody is there to confirm it: add --yes.`);
  }
  const answer = await terminal.ask(`${consequence}\nType yes to go on: `);
  if (answer.trim().toLowerCase() !== 'yes') {
    throw new NotConfirmedError('Not confirmed: nothing was changed.');
  }
}
