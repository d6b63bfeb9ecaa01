import { LowmarkError, type LowmarkErrorOptions, RetryableError } from '#libs/domain';

export interface HttpProblemOptions extends LowmarkErrorOptions {
  /** Default: the code of the status. */
  readonly code?: string;
  /** The field of the request that is wrong. */
  readonly field?: string | undefined;
  /** Value of the header `Retry-After`, in seconds. */
  readonly retryAfterSeconds?: number;
}

/** An error answer as the caller receives it. */
export class HttpProblem extends LowmarkError {
  override readonly retryable: boolean;
  readonly field: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    readonly status: number,
    message: string,
    { code, field, retryAfterSeconds, ...options }: HttpProblemOptions = {},
  ) {
    super(code ?? codeOf(status), message, options);
    this.field = field;
    this.retryAfterSeconds = retryAfterSeconds;
    this.retryable = retryAfterSeconds !== undefined;
  }

  static badRequest(field: string, message: string): HttpProblem {
    return new HttpProblem(400, message, { field });
  }

  static tooManyRequests(retryAfterSeconds: number): HttpProblem {
    const message = `Too many requests: try again in ${retryAfterSeconds} s.`;
    return new HttpProblem(429, message, { retryAfterSeconds });
  }
}

const CODES: Readonly<Record<number, string>> = {
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  429: 'RATE_LIMIT_EXCEEDED',
  503: 'SERVICE_UNAVAILABLE',
};

/** A client error whose status has no code in `CODES` gets `BAD_REQUEST`. */
function codeOf(status: number): string {
  return CODES[status] ?? (status >= 500 ? 'INTERNAL_SERVER_ERROR' : 'BAD_REQUEST');
}

/** Messages for errors of the framework, whose own messages may repeat the request. */
const MESSAGES: Readonly<Record<number, string>> = {
  400: 'The request is malformed.',
  404: 'There is no such route.',
  408: 'The request took too long to arrive.',
  413: 'The body of the request is too large.',
  414: 'The URL is too long.',
  415: 'The media type of the request body is not supported: send application/json.',
  431: 'The headers of the request are too large.',
};

const RETRY_AFTER_SECONDS = 5;

/**
 * Converts an error to its answer: an `HttpProblem` is returned as it is, a client error of the framework keeps its
 * status, a `RetryableError` becomes 503, and every other error becomes a 500 without details.
 */
export function problemFrom(error: unknown): HttpProblem {
  if (error instanceof HttpProblem) return error;
  if (error instanceof RetryableError) {
    const message = 'The service cannot answer at the moment: try again shortly.';
    const retryAfterSeconds = RETRY_AFTER_SECONDS;
    return new HttpProblem(503, message, { retryAfterSeconds, cause: error });
  }
  const status = statusOf(error);
  return status >= 400 && status < 500
    ? new HttpProblem(status, MESSAGES[status] ?? 'The request cannot be served.', { cause: error })
    : new HttpProblem(500, 'Internal server error', { cause: error });
}

/** Fastify sets `statusCode`, Nest sets `status`. */
function statusOf(error: unknown): number {
  if (typeof error !== 'object' || error === null) return 500;
  const { statusCode, status } = error as { statusCode?: unknown; status?: unknown };
  const found = statusCode ?? status;
  return typeof found === 'number' && Number.isInteger(found) ? found : 500;
}
