import { RetryableError } from '#libs/domain';
import { ApiError } from './api.error.js';

const RETRY_AFTER_SECONDS = 5;

/** What callers are told about errors of the framework, whose own messages may repeat what was sent. */
const MESSAGES: Readonly<Record<number, string>> = {
  400: 'The request is malformed.',
  404: 'There is no such route; /docs lists those there are.',
  408: 'The request took too long to arrive.',
  413: 'The body of the request is too large.',
  414: 'The URL is too long.',
  415: 'The media type of the request body is not supported.',
  431: 'The headers of the request are too large.',
};

/**
 * Any error as the answer it becomes: ours as they are, client errors of the framework by their status, what may pass as 503,
 * and everything else as a bare 500 that tells the caller nothing.
 */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof RetryableError) {
    const message = 'The service cannot answer at the moment: try again shortly.';
    return ApiError.unavailable(message, RETRY_AFTER_SECONDS, error);
  }
  const status = statusOf(error);
  return status >= 400 && status < 500
    ? new ApiError(status, MESSAGES[status] ?? 'The request cannot be served.', { cause: error })
    : new ApiError(500, 'Internal server error', { cause: error });
}

/** Fastify puts it into `statusCode`, Nest into `status`. */
function statusOf(error: unknown): number {
  if (typeof error !== 'object' || error === null) return 500;
  const { statusCode, status } = error as { statusCode?: unknown; status?: unknown };
  const found = statusCode ?? status;
  return typeof found === 'number' && Number.isInteger(found) ? found : 500;
}
