import { type CallbackOptions } from '#libs/partner-sdk';
import { type Logger } from '#libs/platform';
import { Contradiction } from './contradiction.js';

/**
 * What becomes of calls that are not done; the SDK has left out whatever a caller might have put into them. `apiRequest` is the call's
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
