import { CommanderError } from 'commander';
import { PermanentError } from '#libs/domain';

/** Ends a command with exit code 1 that has said what is wrong already. */
export class CommandFailed extends CommanderError {
  constructor() {
    super(1, 'lowmark.failed', 'The command has failed.');
  }
}

export class NotConfirmedError extends PermanentError {
  constructor(message: string) {
    super('NOT_CONFIRMED', message);
  }
}
