import { type Exchange } from '../wire/exchange.js';
import { explainSignature, isOverBytes } from '../wire/judge-signature.js';
import { type Fault } from './fault.js';

export interface SignatureContext {
  /** To find out what a wrong signature is over. */
  readonly secret: string;
  readonly isSecretShared: boolean;
}

/** @param isSecretShared calls signed with it were accepted, and others refused: the partner has the same secret */
export function judgeSignatures(
  exchange: Exchange,
  { secret, isSecretShared }: SignatureContext,
): Fault[] {
  const { came, signature, sent, purpose } = exchange;
  if (came.kind === 'none') return [];
  if (signature === 'missing') {
    const is200 = came.status === 200;
    const check = is200 ? 'signature-present' : 'signs-all-responses';
    const observed = `The answer (${purpose}) has status ${came.status} and no X-API-SIGNATURE.`;
    return [{ check, observed, exchange }];
  }
  if (signature === 'valid') {
    if (isOverBytes(secret, sent, came)) return [];
    const observed = `The signature of an answer (${purpose}) fits the canonical form of its body, and other bytes were sent.`;
    return [{ check: 'signature-over-bytes', observed, exchange }];
  }
  const why =
    explainSignature(secret, sent, came) ??
    (isSecretShared
      ? 'It fits none of the usual mistakes. The secret is the same on both sides, since calls are verified with it: compare what is signed with what is sent, byte for byte.'
      : 'It fits none of the usual mistakes; is the secret the same on both sides?');
  const observed = `The signature of an answer (${purpose}) does not fit. ${why}`;
  return [{ check: 'signature-valid', observed, exchange }];
}
