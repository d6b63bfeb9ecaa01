import { PermanentError, RetryableError } from '#libs/domain';

/** The source answered with something that is no price; it is not stored. */
export class PriceRefusedError extends PermanentError {
  constructor(reason: string) {
    super('PRICE_REFUSED', `The price ${reason}`);
  }
}

/** The source did not answer as it should; it may do so the next time. */
export class PriceUnavailableError extends RetryableError {
  constructor(reason: string, cause?: unknown) {
    super('PRICE_UNAVAILABLE', `The source of the price ${reason}`, { cause });
  }
}
