import { canonicalJson, type UuidV7 } from '#libs/domain';
import { type PartnerUrl } from '../address/partner-url.js';
import { type PartnerCall, ROUTES } from '../partner-call.js';
import { type CallIdentity, type PartnerEndpoint } from '../partner-endpoint.js';

/** A request as it goes over the wire: the bytes of path and body are the bytes that are signed. */
export interface SignedRequest {
  readonly identity: CallIdentity;
  /** The request line's target: the path, and the query, which is not signed. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Canonical JSON (RFC 8785); empty where there is no body. */
  readonly body: string;
}

/** @throws PermanentError NOT_JSON where the call's body has no JSON form */
export function signedRequest(
  call: PartnerCall,
  requestId: UuidV7,
  { endpoint, url }: { readonly endpoint: PartnerEndpoint; readonly url: PartnerUrl },
): SignedRequest {
  const { method, path: route } = ROUTES[call.step];
  const path = url.basePath + route;
  const query =
    call.step === 'balance' ? `?${new URLSearchParams({ address: call.address }).toString()}` : '';
  const body = call.step === 'balance' ? '' : canonicalJson(call.body);
  const identity = { method, path, requestId };
  const headers = {
    'X-API-KEY': endpoint.apiKeyHeader(),
    'X-API-REQUEST': requestId,
    'X-API-SIGNATURE': endpoint.sign(identity, body),
    Accept: 'application/json',
    // The signature is over the bytes as sent; what a proxy compresses cannot be held against it.
    'Accept-Encoding': 'identity',
    ...(body !== '' && { 'Content-Type': 'application/json' }),
  };
  return { identity, target: path + query, headers, body };
}
