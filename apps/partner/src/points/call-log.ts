import { type CallbackOptions, type ErrorCode, Refusal } from '#libs/partner-sdk';
import { type Logger } from '#libs/platform';

/** A call that contradicts our books: refused, and logged for a person. */
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
 * Logs failed and refused calls. The SDK has removed all that a caller might have put into them. `apiRequest` is the
 * call's X-API-REQUEST, beside the `requestId` of every log line of a request.
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
