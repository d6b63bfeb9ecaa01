import { LowmarkError, type LowmarkErrorOptions } from '#libs/domain';

interface UserErrorOptions extends LowmarkErrorOptions {
  /** Which part of the request is wrong. */
  readonly field?: string;
  /** For `Retry-After`. */
  readonly retryAfterSeconds?: number;
}

/** An answer that is not a success, as the user will see it. */
export class UserError extends LowmarkError {
  override readonly retryable: boolean;
  readonly field: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    readonly status: number,
    code: string,
    message: string,
    options: UserErrorOptions = {},
  ) {
    super(code, message, options);
    this.field = options.field;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.retryable = options.retryAfterSeconds !== undefined;
  }

  static badRequest(field: string, message: string): UserError {
    return new UserError(400, 'BAD_REQUEST', message, { field });
  }

  static unauthorized(): UserError {
    const message = 'Sign in first: Authorization must be Bearer and the token of a session.';
    return new UserError(401, 'UNAUTHORIZED', message);
  }

  static sessionEnded(): UserError {
    const message = 'This session has ended, or was never opened: sign in again.';
    return new UserError(401, 'UNAUTHORIZED', message);
  }

  static notFound(message: string): UserError {
    return new UserError(404, 'NOT_FOUND', message);
  }

  static tooManyRequests(retryAfterSeconds: number): UserError {
    const message = `Too many requests: try again in ${retryAfterSeconds} s.`;
    return new UserError(429, 'RATE_LIMIT_EXCEEDED', message, { retryAfterSeconds });
  }
}
