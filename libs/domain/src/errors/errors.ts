/**
 * The roots of all errors that Lowmark raises itself. Which root decides what the caller does: a retryable one may go away
 * by itself (wait, try again, try elsewhere), a permanent one needs a person to change something.
 */

/** Longest message that is kept; what is longer was probably built from a foreign text. */
const MAX_MESSAGE_LENGTH = 2000;

export interface LowmarkErrorOptions {
  /** What led to this error; logged, never sent to a caller. */
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

/** May succeed when tried again, later or elsewhere. */
export class RetryableError extends LowmarkError {
  override readonly retryable = true as const;
}

/** Will not succeed however often it is tried. */
export class PermanentError extends LowmarkError {
  override readonly retryable = false as const;
}

function bounded(message: string): string {
  return message.length <= MAX_MESSAGE_LENGTH
    ? message
    : `${message.slice(0, MAX_MESSAGE_LENGTH - 1)}…`;
}
