export { type AddressPolicy, addressPolicy } from './address/address-policy.js';
export { parsePartnerUrl, type ParsedPartnerUrl, type PartnerUrl } from './address/partner-url.js';
export { callOutcome } from './call-outcome.js';
export { type CallRecord, type CallTimings } from './call-record.js';
export {
  type AnswerResult,
  type CallResult,
  type NoAnswerResult,
  type NothingSentResult,
} from './call-result.js';
export { type PartnerCall, ROUTES } from './partner-call.js';
export {
  type CallContext,
  PartnerClient,
  type PartnerClientOptions,
  type PartnerTimeouts,
} from './partner-client.js';
export { PartnerEndpoint, type PartnerEndpointFields } from './partner-endpoint.js';
export { newRequestId } from './request-id.js';
export { type SignedRequest, signedRequest } from './wire/signed-request.js';
