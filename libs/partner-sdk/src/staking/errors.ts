/** What can come of a call to the staking API; `code` says which, in a word. None of them holds the key or the secret. */
abstract class StakingError extends Error {
  abstract readonly code: string;
}

/** The service's own refusal, its signature verified. */
export class LowmarkApiError extends StakingError {
  override name = 'LowmarkApiError';
  /** 400, 401, 404, 409, 429, 500, 503. */
  readonly status: number;
  /** `BAD_REQUEST`, `NOT_FOUND`, `RATE_LIMIT_EXCEEDED`, `SERVICE_UNAVAILABLE`, … */
  readonly code: string;
  /** When to come back, where the service says so. */
  readonly retryAfterSeconds: number | undefined;

  constructor(answer: {
    readonly status: number;
    readonly code: string;
    readonly message: string;
    readonly retryAfterSeconds?: number | undefined;
  }) {
    super(answer.message);
    this.status = answer.status;
    this.code = answer.code;
    this.retryAfterSeconds = answer.retryAfterSeconds;
  }
}

/** The answer is not proven to be the service's. Nothing of it was used. */
export class SignatureError extends StakingError {
  override name = 'SignatureError';
  readonly code = 'SIGNATURE_INVALID';

  /**
   * @param isSigned whether the answer carries a signature at all
   * @param isBound false: `X-API-SIGNATURE` verifies, but no message signature binds the answer to this request
   */
  constructor(
    readonly status: number,
    isSigned: boolean,
    isBound = true,
  ) {
    super(`The answer with status ${status} ${isBound ? findingOf(status, isSigned) : NOT_BOUND}`);
  }
}

const NOT_BOUND =
  'has no HTTP Message Signature for this request: it answers another one, a proxy drops Accept-Signature or Signature, or the service does not sign so.';

function findingOf(status: number, isSigned: boolean): string {
  const finding = isSigned ? 'is not signed with this secret' : 'carries no signature';
  return `${finding}: ${causesOf(status, isSigned)}`;
}

function causesOf(status: number, isSigned: boolean): string {
  if (!isSigned) {
    return 'it is not from the service. Is baseUrl right, does a proxy or gateway answer by itself?';
  }
  if (status === 401) {
    return 'the API key is missing, mistyped, revoked, or of the other environment, so that no secret of yours could be chosen.';
  }
  return (
    'the secret belongs to another credential than the key, or was decoded or trimmed; ' +
    'or a proxy changed the path or the body on the way.'
  );
}

/** Signed, yet not an answer to what was asked: another wallet, another number of days, another form. */
export class UnexpectedAnswerError extends StakingError {
  override name = 'UnexpectedAnswerError';
  readonly code = 'UNEXPECTED_ANSWER';

  constructor(fault: string) {
    super(`The answer is signed but not usable: ${fault}.`);
  }
}

/** The total time is over, all attempts and waits together. `cause`: what the attempt before came to. */
export class TimeoutError extends StakingError {
  override name = 'TimeoutError';
  readonly code = 'TIMEOUT';

  constructor(timeoutMs: number, options?: ErrorOptions) {
    super(`No complete answer within ${timeoutMs} ms.`, options);
  }
}

/** The service could not be reached, or the connection broke before the answer was whole. */
export class ConnectionError extends StakingError {
  override name = 'ConnectionError';
  readonly code = 'CONNECTION_FAILED';

  constructor(options: ErrorOptions) {
    super('The staking API could not be reached, or the connection broke.', options);
  }
}
