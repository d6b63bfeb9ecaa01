/** A call as it came, whatever server it came through. */
export interface CallbackCall {
  /** Upper case. */
  readonly method: string;
  /** The URL or its path and query exactly as sent: the path is signed. */
  readonly url: string;
  /** Names in lower case, as Node has them. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The bytes as they came, before any parser; empty where there are none. */
  readonly body: Uint8Array;
}

export interface CallbackAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** To be sent byte for byte as it is: it is signed. Empty for HEAD. */
  readonly body: string;
}

/** A header that was sent several times is one text, as HTTP has it. */
export function headerOf(
  { headers }: Pick<CallbackCall, 'headers'>,
  name: string,
): string | undefined {
  const value = headers[name];
  return typeof value === 'object' ? value.join(', ') : value;
}

/** A call as it may be logged: nothing in it is as it was sent, for a key may be anywhere in a call that is made wrongly. */
export interface FailedCall {
  /** One of the four names, such as `deduct-points-by-address`. */
  readonly endpoint: string | undefined;
  /** Undefined where it is no UUID of version 7. */
  readonly requestId: string | undefined;
}

export interface RefusedCall extends FailedCall {
  readonly errorCode: ErrorCode;
  readonly errorMessage: string;
  /** As it was thrown, with all that a class of your own may carry. */
  readonly refusal: Refusal;
}

export const ERROR_CODES = [
  'ERR-AUTH-FAILED',
  'ERR-USER-NOT-FOUND',
  'ERR-DUPLICATE-REQUEST',
  'ERR-INSUFFICIENT-POINTS',
  'ERR-TRANSACTION-NOT-FOUND',
  'ERR-ALREADY-REVERTED',
  'ERR-INVALID-AMOUNT',
  'ERR-REDEMPTION-NOT-FOUND',
  'ERR-INTERNAL',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** Fields of a refusal beside its code, such as `partnerTransactionId`; JSON. */
export type ExtraFields = Readonly<Record<string, unknown>>;

const REFUSAL = Symbol.for('@lowmark/partner-sdk/refusal');

/** What a handler throws for a call that is not done; the caller gets the code, the message and the extra fields. */
export class Refusal extends Error {
  /** Known by its mark, so that two copies of this package in one program get along. */
  readonly [REFUSAL] = true;

  static is(error: unknown): error is Refusal {
    return typeof error === 'object' && error !== null && REFUSAL in error;
  }

  constructor(
    readonly errorCode: ErrorCode,
    message: string,
    readonly extra: ExtraFields = {},
  ) {
    super(message);
    this.name = 'Refusal';
  }
}
