import { type NothingSentCause } from '../call-end.js';
import { type CallResult } from '../call-result.js';
import { type CallHealth } from './circuit-breaker.js';

const NO_CONNECTION: readonly NothingSentCause[] = [
  'dns',
  'connection-refused',
  'unreachable',
  'connect-timeout',
  'tls',
];

/**
 * What a call says about the partner. An answer that cannot be believed counts as a failure however fast it comes: each such
 * answer to a deduction leaves another one open. A refusal in the interface's words does not; 429 does, as it asks for rest.
 */
export function healthOf(result: CallResult): CallHealth {
  switch (result.kind) {
    case 'nothing-sent':
      return NO_CONNECTION.includes(result.cause) ? 'failing' : 'neutral';
    case 'no-answer':
      return result.cause === 'aborted' ? 'neutral' : 'failing';
    case 'answer': {
      const { status, verdict, record } = result;
      const isProper = status === 200 || (status >= 400 && status < 500 && status !== 429);
      // A confirmation needs no signature to be taken for delivered.
      const needsSignature = status === 200 && record.step !== 'confirm';
      const isBelieved = verdict === 'verified' || (verdict === 'unsigned' && !needsSignature);
      return isProper && isBelieved ? 'healthy' : 'failing';
    }
  }
}
