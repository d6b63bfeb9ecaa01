import { PermanentError } from '#libs/domain';

/** Something the person at the keyboard has to change; the message is all that is shown. */
export class StackError extends PermanentError {
  constructor(message: string, options?: { readonly cause?: unknown }) {
    super('STACK_NOT_STARTED', message, options);
  }
}
