/**
 * The base classes of all errors that Lowmark raises itself. The class decides what the caller does: a retryable error
 * may disappear by itself (wait, try again, try elsewhere), a permanent error needs a person to change something.
 */

/** Longest message, in UTF-16 code units. A longer message was probably built from external text, and is cut. */
const MAX_MESSAGE_LENGTH = 2000;

export interface LowmarkErrorOptions {
  /** The error that caused this one. It is logged, and never sent to a caller. */
  readonly cause?: unknown;
}

export abstract class LowmarkError extends Error {
  abstract readonly retryable: boolean;

  /**
   * @param code upper-case words joined by underscores, stable over releases
   * @param message says what happened and what to do; holds no secret; cut at 2000 characters
   */
  constructor(
    readonly code: string,
    message: string,
    options?: LowmarkErrorOptions,
  ) {
    super(bounded(message), options);
    this.name = new.target.name;
  }
}

export class RetryableError extends LowmarkError {
  override readonly retryable = true as const;
}

export class PermanentError extends LowmarkError {
  override readonly retryable = false as const;
}

function bounded(message: string): string {
  return message.length <= MAX_MESSAGE_LENGTH
    ? message
    : `${message.slice(0, MAX_MESSAGE_LENGTH - 1)}…`;
}
