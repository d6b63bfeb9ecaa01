import { HttpProblem, type HttpProblemOptions } from '#libs/service';

/** An answer that is not a success, as the user will see it. */
export class UserError extends HttpProblem {
  constructor(
    status: number,
    code: string,
    message: string,
    options: Omit<HttpProblemOptions, 'code'> = {},
  ) {
    super(status, message, { ...options, code });
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
}
