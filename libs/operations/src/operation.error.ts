import { PermanentError } from '#libs/domain';

/** What was given for an operation does not fit together. The message never shows a secret. */
export class OptionError extends PermanentError {
  constructor(message: string) {
    super('OPTION_INVALID', message);
  }
}
