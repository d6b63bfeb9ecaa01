import { type ErrorCode } from '../answers/answer-form.js';

/** A call as received, whatever the server is. */
export interface CallbackCall {
  readonly method: string;
  /** The URL, or its path and query, exactly as sent, since the signature covers the path. */
  readonly url: string;
  /** Header names in lower case, as Node gives them. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The bytes as received, before any parser; empty where there is no body. */
  readonly body: Uint8Array;
}

/** The signed answer to a call. */
export interface CallbackAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Must be sent byte for byte, since it is signed. Empty for HEAD. */
  readonly body: string;
}

/** Joins a header that was sent several times into one text, as HTTP defines. */
export function headerOf(
  { headers }: Pick<CallbackCall, 'headers'>,
  name: string,
): string | undefined {
  const value = headers[name];
  return typeof value === 'object' ? value.join(', ') : value;
}

/** A call in a form that is safe to log: no text of the call itself, since a malformed call may hold a key anywhere. */
export interface FailedCall {
  /** The name of one of the four endpoints, such as `deduct-points-by-address`; undefined for any other path. */
  readonly endpoint: string | undefined;
  /** Undefined where X-API-REQUEST is no UUID of version 7. */
  readonly requestId: string | undefined;
}

/** A call that was refused, with the refusal. */
export interface RefusedCall extends FailedCall {
  readonly errorCode: ErrorCode;
  readonly errorMessage: string;
  /** The refusal as thrown, with all fields that a class of your own adds. */
  readonly refusal: Refusal;
}

/** Fields of a refusal besides its code, such as `partnerTransactionId`. They must have a JSON form. */
export type ExtraFields = Readonly<Record<string, unknown>>;

const REFUSAL = Symbol.for('@lowmark/partner-sdk/refusal');

/** Thrown by a handler for a call that it does not carry out. The caller receives code, message and extra fields. */
export class Refusal extends Error {
  /** The mark of a refusal, by which two copies of this package in one program recognise each other's refusals. */
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
