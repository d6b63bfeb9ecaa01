import canonicalize from 'canonicalize';
import { PermanentError } from './errors.js';

/**
 * The canonical form of a JSON value (RFC 8785): keys sorted by UTF-16 code units, no white space, numbers and strings
 * as ECMAScript writes them. Members that are undefined are left out. The same text is sent and signed.
 * @throws PermanentError NOT_JSON for values without a JSON form: undefined, NaN, infinities, bigints, lone surrogates,
 * circular references
 */
export function canonicalJson(value: unknown): string {
  let text: string | undefined;
  try {
    text = canonicalize(value);
  } catch (cause) {
    throw new PermanentError('NOT_JSON', 'The value has no JSON form.', { cause });
  }
  if (text === undefined) throw new PermanentError('NOT_JSON', 'The value has no JSON form.');
  return text;
}
