import { type CallbackOptions, type ErrorCode, Refusal } from '#libs/partner-sdk';
import { type Logger } from '#libs/platform';

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

/**
 * What becomes of calls that are not done; the SDK has left out all that a caller might have put into them. `apiRequest` is the call's
 * X-API-REQUEST, beside the `requestId` that every line has while something is answered.
 */
export function logCalls(logger: Logger): Required<Pick<CallbackOptions, 'onError' | 'onRefused'>> {
  return {
    onError: (error, { requestId: apiRequest, ...call }) => {
      logger.error({ ...call, apiRequest, err: error }, 'A call failed');
    },
    onRefused: ({ refusal, endpoint, requestId: apiRequest, errorCode, errorMessage: reason }) => {
      const call = { endpoint, apiRequest, errorCode, reason };
      if (refusal instanceof Contradiction) {
        logger.warn({ ...call, ...refusal.facts }, 'A call contradicts the books');
      } else logger.info(call, 'A call was refused');
    },
  };
}
