import { type Credential } from '../credential.js';
import { canonicalJson } from '../signing/canonical-json.js';
import { sign } from '../signing/signature.js';
import { credentialOf } from './authenticate.js';
import { type CallbackAnswer, type CallbackCall, headerOf } from './call.js';
import { type Refusal } from './refusal.js';

/**
 * Whatever one of the four endpoints says is a 200, refusals and failures too: the outcome is in the envelope, and any other
 * status comes from something in between that cannot sign. The interface has no code for a malformed call: it is
 * ERR-INTERNAL like every failure that says nothing about points, with the fields in the message.
 */
export function envelopeOf({ errorCode, message, extra }: Refusal): object {
  return { ...extra, success: false, errorCode, errorMessage: message };
}

export const FAILED = envelope('The call failed here.');
export const NOT_AN_ENDPOINT = envelope('There is no such endpoint.');

function envelope(errorMessage: string): object {
  return { success: false, errorCode: 'ERR-INTERNAL', errorMessage };
}

/** Signs with the secret of the caller's key, or with the first where the key is nobody's. */
export function signedAnswer(
  call: CallbackCall,
  credentials: readonly [Credential, ...Credential[]],
  { status, body }: { readonly status: number; readonly body: object },
): CallbackAnswer {
  const text = call.method === 'HEAD' ? '' : canonicalJson(body);
  const { sharedSecret } = credentialOf(call, credentials) ?? credentials[0];
  const { method, url } = call;
  const requestId = headerOf(call, 'x-api-request');
  return {
    status,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(Buffer.byteLength(text)),
      // A body that is compressed or minified on its way is not the one that was signed.
      'cache-control': 'no-store, no-transform',
      'x-api-signature': sign(sharedSecret, { method, url, requestId, body: text }),
    },
    body: text,
  };
}
