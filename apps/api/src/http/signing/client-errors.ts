import { addressKey } from '#libs/cache';
import { ClientErrors } from '#libs/service';
import { errorBody, JSON_TYPE } from '../errors/error-body.js';
import { toApiError } from '../errors/to-api-error.js';
import { type Admissions } from '../keys/admission.js';
import { responseHeaders } from './response-headers.js';

/**
 * Requests that could not be parsed are signed like everything else: with the method and path of the request line where it can be
 * found, else with both empty.
 */
export function signedClientErrors(admissions: Admissions): ClientErrors {
  return new ClientErrors(async (request) => {
    const admission = await admissions.anonymous(addressKey(request.clientAddress));
    const failure = admission.refusal ?? toApiError({ statusCode: request.status });
    const { status, retryAfterSeconds } = failure;
    const body = errorBody(failure);
    const headers = {
      ...responseHeaders(request, body, admission),
      ...(retryAfterSeconds && { 'retry-after': String(retryAfterSeconds) }),
      'content-type': JSON_TYPE,
    };
    return { status, headers, body };
  });
}
