import {
  IdempotencyConflictError,
  LimitBreachedError,
  RedemptionBusyError,
  RestoreNotNotedError,
} from '#libs/db';
import { type LimitBreach, type LimitCode } from '#libs/domain';
import { HttpProblem, type HttpProblemOptions, problemFrom } from '#libs/service';

export class UserError extends HttpProblem {
  constructor(
    status: number,
    code: string,
    message: string,
    options: Omit<HttpProblemOptions, 'code'> = {},
  ) {
    super(status, message, { ...options, code });
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

/** Limits that the points themselves breach. With any other limit the same request may succeed later. */
const UNPROCESSABLE: readonly LimitCode[] = [
  'INVALID_POINTS',
  'TOO_FEW_POINTS',
  'TOO_MANY_POINTS',
  'TOO_FEW_TOKENS',
];

/** When a page asks again while redemptions are paused. */
const PAUSED_SECONDS = 60;

/** The answer for any error: our own errors by their meaning, all others as in every service. */
export function toUserError(error: unknown): HttpProblem {
  if (error instanceof LimitBreachedError) return limitError(error.breach);
  if (error instanceof IdempotencyConflictError) {
    return new UserError(422, error.code, error.message);
  }
  if (error instanceof RedemptionBusyError) {
    const options = { retryAfterSeconds: 1 };
    return new UserError(409, 'IDEMPOTENCY_IN_PROGRESS', error.message, options);
  }
  if (error instanceof RestoreNotNotedError) return redemptionsPaused(error);
  return problemFrom(error);
}

/** The ledger went back in time: an operator has to look before anything goes on. */
export function redemptionsPaused(cause?: RestoreNotNotedError): UserError {
  const message = 'Redemptions are paused while the operator checks the records. Try again later.';
  const options = { retryAfterSeconds: PAUSED_SECONDS, ...(cause !== undefined && { cause }) };
  return new UserError(503, 'REDEMPTIONS_PAUSED', message, options);
}

/** Whole seconds for `Retry-After`, at least 1. */
export function secondsUntil(atMs: number, nowMs: number): number {
  return Math.max(1, Math.ceil((atMs - nowMs) / 1000));
}

export function limitError({ code, message, ...options }: LimitBreach): UserError {
  return new UserError(UNPROCESSABLE.includes(code) ? 422 : 409, code, message, options);
}
