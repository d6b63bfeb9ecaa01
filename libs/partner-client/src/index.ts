export { callOutcome } from './call-outcome.js';
export { type AnswerResult, type CallRecord, type CallResult } from './call-result.js';
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
export { DialFault, ExchangeFault } from './wire/call-fault.js';
export { type Arrived, type ExchangeLimits, type WireRequest } from './wire/exchange.js';
export {
  type ConnectionSource,
  type Destination,
  type OpenConnection,
} from './wire/kept-connections.js';
export { type AddressPolicy, addressPolicy, policedLookup } from './wire/dial.js';
export { type WebhookAttempt, WebhookSender } from './webhook-sender.js';
