import { IdempotencyConflictError, LimitBreachedError, RedemptionBusyError } from '#libs/db';
import { type LimitBreach, type LimitCode, RetryableError } from '#libs/domain';
import { UserError } from './user.error.js';

const RETRY_AFTER_SECONDS = 5;

/** What the points themselves are wrong by; the other limits may let the same request through later. */
const UNPROCESSABLE: readonly LimitCode[] = [
  'INVALID_POINTS',
  'TOO_FEW_POINTS',
  'TOO_MANY_POINTS',
  'TOO_FEW_TOKENS',
];

/** What users are told about errors of the framework, whose own messages may repeat what was sent. */
const FRAMEWORK: Readonly<Record<number, readonly [code: string, message: string]>> = {
  400: ['BAD_REQUEST', 'The request is malformed.'],
  404: ['NOT_FOUND', 'There is no such route; /docs lists those there are.'],
  408: ['BAD_REQUEST', 'The request took too long to arrive.'],
  413: ['BAD_REQUEST', 'The body of the request is too large.'],
  414: ['BAD_REQUEST', 'The URL is too long.'],
  431: ['BAD_REQUEST', 'The headers of the request are too large.'],
  415: ['BAD_REQUEST', 'Content-Type must be application/json.'],
};

/**
 * Any error as the answer it becomes: ours by their meaning, client errors of the framework by their status, what may pass as 503,
 * and everything else as a bare 500 that tells nothing.
 */
export function toUserError(error: unknown): UserError {
  if (error instanceof UserError) return error;
  if (error instanceof LimitBreachedError) return limitError(error.breach);
  if (error instanceof IdempotencyConflictError) {
    return new UserError(422, error.code, error.message);
  }
  if (error instanceof RedemptionBusyError) {
    const options = { retryAfterSeconds: 1 };
    return new UserError(409, 'IDEMPOTENCY_IN_PROGRESS', error.message, options);
  }
  if (error instanceof RetryableError) {
    const message = 'The service cannot answer at the moment: try again shortly.';
    const options = { retryAfterSeconds: RETRY_AFTER_SECONDS, cause: error };
    return new UserError(503, 'SERVICE_UNAVAILABLE', message, options);
  }
  const status = statusOf(error);
  if (status < 400 || status >= 500) {
    return new UserError(500, 'INTERNAL_SERVER_ERROR', 'Internal server error', { cause: error });
  }
  const [code, message] = FRAMEWORK[status] ?? ['BAD_REQUEST', 'The request cannot be served.'];
  return new UserError(status, code, message, { cause: error });
}

export function limitError({ code, message, ...options }: LimitBreach): UserError {
  return new UserError(UNPROCESSABLE.includes(code) ? 422 : 409, code, message, options);
}

/** Fastify puts it into `statusCode`, Nest into `status`. */
function statusOf(error: unknown): number {
  if (typeof error !== 'object' || error === null) return 500;
  const { statusCode, status } = error as { statusCode?: unknown; status?: unknown };
  const found = statusCode ?? status;
  return typeof found === 'number' && Number.isInteger(found) ? found : 500;
}
