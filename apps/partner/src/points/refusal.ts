import { type PartnerErrorCode, PermanentError } from '#libs/domain';

/** Ids that a refusal may name beside its code; additions to the interface that callers need not know. */
export interface RefusalIds {
  readonly partnerTransactionId?: string;
  readonly partnerRevertId?: string;
}

/** A call that is not done, as the caller will see it. */
export class Refusal extends PermanentError {
  constructor(
    readonly errorCode: PartnerErrorCode,
    message: string,
    readonly ids: RefusalIds = {},
  ) {
    super(errorCode, message);
  }
}

/** A call that cannot be true if our books are: refused, and logged for a person to look at. */
export class Contradiction extends Refusal {
  constructor(
    errorCode: PartnerErrorCode,
    message: string,
    readonly facts: Readonly<Record<string, string | number | null>>,
  ) {
    super(errorCode, message);
  }
}
