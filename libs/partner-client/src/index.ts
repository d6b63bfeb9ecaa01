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
  type AddressPolicy,
  addressPolicy,
  type ParsedPartnerUrl,
  parsePartnerUrl,
  type PartnerUrl,
} from './partner-address.js';
export {
  type CallContext,
  PartnerClient,
  type PartnerClientOptions,
  type PartnerTimeouts,
} from './partner-client.js';
export {
  newRequestId,
  type PartnerCall,
  PartnerEndpoint,
  type PartnerEndpointFields,
  ROUTES,
  type SignedRequest,
  signedRequest,
} from './partner-endpoint.js';
