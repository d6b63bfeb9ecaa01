import { PermanentError } from '#libs/domain';

/** An error that the user has to correct; only its message is shown. */
export class StackError extends PermanentError {
  constructor(message: string, options?: { readonly cause?: unknown }) {
    super('STACK_NOT_STARTED', message, options);
  }
}
