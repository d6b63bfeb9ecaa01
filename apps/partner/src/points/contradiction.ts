import { type ErrorCode, Refusal } from '#libs/partner-sdk';

/** A call that cannot be true if our books are: refused, and logged for a person to look at. */
export class Contradiction extends Refusal {
  constructor(
    errorCode: ErrorCode,
    message: string,
    readonly facts: Readonly<Record<string, string | number | null>>,
  ) {
    super(errorCode, message);
  }
}
