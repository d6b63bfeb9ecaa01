export { callOutcome } from './call-outcome.js';
export {
  type AnswerResult,
  type CallRecord,
  type CallResult,
  type CallTimings,
  type NoAnswerResult,
  type NothingSentResult,
} from './call-result.js';
export {
  type CallContext,
  PartnerClient,
  type PartnerClientOptions,
  type PartnerTimeouts,
} from './partner-client.js';
export {
  newRequestId,
  type ParsedPartnerUrl,
  parsePartnerUrl,
  type PartnerCall,
  PartnerEndpoint,
  type PartnerEndpointFields,
  ROUTES,
  type SignedRequest,
  signedRequest,
} from './partner-endpoint.js';
export { type AddressPolicy, addressPolicy, type PartnerUrl, policedLookup } from './wire/dial.js';
export {
  type WebhookAttempt,
  type WebhookMessage,
  WebhookSender,
  type WebhookSenderOptions,
} from './webhook-sender.js';
