export { callOutcome } from './call-outcome.js';
export {
  type AnswerResult,
  type CallRecord,
  type CallResult,
  type NoAnswerResult,
  type NothingSentResult,
} from './call-result.js';
export { type CallContext, PartnerClient } from './partner-client.js';
export {
  newRequestId,
  parsePartnerUrl,
  type PartnerCall,
  PartnerEndpoint,
  type PartnerEndpointFields,
  requireUsableCredential,
  ROUTES,
} from './partner-endpoint.js';
export { type AddressPolicy, addressPolicy, policedLookup } from './wire/dial.js';
export { type WebhookAttempt, WebhookSender } from './webhook-sender.js';
