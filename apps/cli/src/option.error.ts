import { PermanentError } from '#libs/domain';

/** What was given on the command line does not fit together. The message never shows a secret. */
export class OptionError extends PermanentError {
  constructor(message: string) {
    super('OPTION_INVALID', message);
  }
}
