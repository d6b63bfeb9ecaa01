import { type ErrorCode, type Refusal } from './refusal.js';

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
