/** Judges whether an answer is signed for its call. */
import { type SignedMessage, verify, verifyJson } from '../../signing/signing.js';
import { type Answer, type Outcome, type Exchange, type Sent } from './exchange.js';

export function judgeSignature(secret: string, sent: Sent, came: Outcome): Exchange['signature'] {
  if (came.kind === 'none') return 'none';
  const given = came.headers['x-api-signature'];
  if (given === undefined) return 'missing';
  return verifyJson(secret, messageOf(sent, came.body), given) ? 'valid' : 'wrong';
}

/** Whether the signature fits the bytes of the body, and not only their canonical form. */
export function isOverBytes(secret: string, sent: Sent, came: Answer): boolean {
  return verify(secret, messageOf(sent, came.body), came.headers['x-api-signature']);
}

type SignedBytes = SignedMessage & { readonly body: Uint8Array };

function messageOf({ method, target: url, headers }: Sent, body: Uint8Array): SignedBytes {
  return { method, url, requestId: headers['x-api-request'], body };
}
