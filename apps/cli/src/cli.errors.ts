import { CommanderError } from 'commander';
import { DatabaseRefusedError } from '#libs/db';
import { PermanentError } from '#libs/domain';

/** Ends a command with exit code 1 that has said what is wrong already. */
export class CommandFailed extends CommanderError {
  constructor() {
    super(1, 'lowmark.failed', 'The command has failed.');
  }
}

/** What was given on the command line does not fit together. The message never shows a secret. */
export class OptionError extends PermanentError {
  constructor(message: string) {
    super('OPTION_INVALID', message);
  }
}

export class NotConfirmedError extends PermanentError {
  constructor(message: string) {
    super('NOT_CONFIRMED', message);
  }
}

/** PostgreSQL's codes for a schema or table that is not there. */
const NOT_MIGRATED = ['3F000', '42P01'];

export function isNotMigrated(error: unknown): boolean {
  return error instanceof DatabaseRefusedError && NOT_MIGRATED.includes(error.sqlState);
}

/** PostgreSQL's code for what this user may not do. */
const WITHOUT_RIGHT = '42501';

export function isWithoutRight(error: unknown): boolean {
  return error instanceof DatabaseRefusedError && error.sqlState === WITHOUT_RIGHT;
}
