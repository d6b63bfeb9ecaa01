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
