import { LowmarkError, type LowmarkErrorOptions } from '#libs/domain';

/** An answer that is not a success, as the caller will see it. */
export class ApiError extends LowmarkError {
  override readonly retryable: boolean;
  /** Seconds, for `Retry-After`. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    readonly status: number,
    message: string,
    options: LowmarkErrorOptions & { readonly retryAfterSeconds?: number } = {},
  ) {
    super(codeOf(status), message, options);
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.retryable = status === 429 || status === 503;
  }

  static badRequest(message: string): ApiError {
    return new ApiError(400, message);
  }

  static unauthorized(): ApiError {
    return new ApiError(401, 'The X-API-KEY header is missing or is not a valid key.');
  }

  static tooManyRequests(retryAfterSeconds: number): ApiError {
    const message = `Too many requests: try again in ${retryAfterSeconds} s.`;
    return new ApiError(429, message, { retryAfterSeconds });
  }

  static unavailable(message: string, retryAfterSeconds: number, cause?: unknown): ApiError {
    return new ApiError(503, message, { retryAfterSeconds, cause });
  }
}

const CODES: Readonly<Record<number, string>> = {
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  429: 'RATE_LIMIT_EXCEEDED',
  503: 'SERVICE_UNAVAILABLE',
};

/** The code on the wire. A client error without a code of its own is a bad request, whatever its status says in detail. */
function codeOf(status: number): string {
  return CODES[status] ?? (status >= 500 ? 'INTERNAL_SERVER_ERROR' : 'BAD_REQUEST');
}
