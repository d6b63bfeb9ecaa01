import { type CallbackOptions } from '#libs/partner-sdk';
import { type Logger } from '#libs/platform';
import { Contradiction } from './contradiction.js';

/** What becomes of calls that are not done; the SDK has left out whatever a caller might have put into them. */
export function logCalls(logger: Logger): Required<Pick<CallbackOptions, 'onError' | 'onRefused'>> {
  return {
    onError: (error, call) => {
      logger.error({ ...call, err: error }, 'A call failed');
    },
    onRefused: ({ refusal, endpoint, requestId, errorCode, errorMessage: reason }) => {
      const call = { endpoint, requestId, errorCode, reason };
      if (refusal instanceof Contradiction) {
        logger.warn({ ...call, ...refusal.facts }, 'A call contradicts the books');
      } else logger.info(call, 'A call was refused');
    },
  };
}
