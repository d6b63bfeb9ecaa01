import { type Exchange } from '../wire/exchange.js';
import { explainSignature } from '../wire/judge-signature.js';
import { type Fault } from './fault.js';

export function judgeSignatures(exchange: Exchange, secret: string): Fault[] {
  const { came, signature, sent, purpose } = exchange;
  if (came.kind === 'none') return [];
  if (signature === 'missing') {
    const is200 = came.status === 200;
    const check = is200 ? 'signature-present' : 'signs-all-responses';
    const observed = `The answer (${purpose}) has status ${came.status} and no X-API-SIGNATURE.`;
    return [{ check, observed, exchange }];
  }
  if (signature !== 'wrong') return [];
  const why =
    explainSignature(secret, sent, came) ??
    'It fits none of the usual mistakes; is the secret the same on both sides?';
  const observed = `The signature of an answer (${purpose}) does not fit. ${why}`;
  return [{ check: 'signature-valid', observed, exchange }];
}
