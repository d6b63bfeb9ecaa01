/** The errors of a call to the staking API; `code` tells them apart. No error holds the key or the secret. */
abstract class StakingError extends Error {
  abstract readonly code: string;
}

/**
 * A refusal by the service, with a verified signature over `code` and `message`. Without `messageSignatures` nothing
 * proves `status`, `retryAfterSeconds`, and that the refusal is not an earlier one.
 */
export class LowmarkApiError extends StakingError {
  override name = 'LowmarkApiError';
  /** The HTTP status: 400, 401, 404, 409, 410, 429, 500 or 503. */
  readonly status: number;
  /** `BAD_REQUEST`, `NOT_FOUND`, `RATE_LIMIT_EXCEEDED`, `SERVICE_UNAVAILABLE`, … */
  readonly code: string;
  /** Seconds until the next attempt, where the service names them. */
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

/** The answer is not proven to come from the service. No part of the answer was used. */
export class SignatureError extends StakingError {
  override name = 'SignatureError';
  readonly code = 'SIGNATURE_INVALID';

  /**
   * @param isSigned whether the answer has a signature at all
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

/** A signed answer that does not fit the request: another wallet, other days, another time, or another form. */
export class UnexpectedAnswerError extends StakingError {
  override name = 'UnexpectedAnswerError';
  readonly code = 'UNEXPECTED_ANSWER';

  constructor(fault: string) {
    super(`The answer is signed but not usable: ${fault}.`);
  }
}

/**
 * The time limit of the call is over, with all attempts and waits. `cause` names the last answer, or else the error.
 */
export class TimeoutError extends StakingError {
  override name = 'TimeoutError';
  readonly code = 'TIMEOUT';

  constructor(timeoutMs: number, options?: ErrorOptions) {
    super(`No complete answer within ${timeoutMs} ms.`, options);
  }
}

/** The service could not be reached, or the connection broke before the answer was complete. */
export class ConnectionError extends StakingError {
  override name = 'ConnectionError';
  readonly code = 'CONNECTION_FAILED';

  constructor(options: ErrorOptions) {
    super('The staking API could not be reached, or the connection broke.', options);
  }
}
