import { CommanderError } from 'commander';

/** Ends a command with exit code 1 that has said what is wrong already. */
export class CommandFailed extends CommanderError {
  constructor() {
    super(1, 'lowmark.failed', 'The command has failed.');
  }
}
