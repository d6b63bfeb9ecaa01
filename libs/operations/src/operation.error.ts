import { PermanentError } from '#libs/domain';

/** The options of an operation are wrong or do not fit together. The message never contains a secret. */
export class OptionError extends PermanentError {
  constructor(message: string) {
    super('OPTION_INVALID', message);
  }
}
