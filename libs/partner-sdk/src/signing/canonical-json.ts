import canonicalize from 'canonicalize';

/**
 * The canonical form of a JSON value (RFC 8785): keys sorted, no white space, numbers and texts as ECMAScript writes them.
 * Members that are undefined are left out.
 * @throws TypeError for what JSON cannot say: undefined, NaN, infinities, bigints, halves of surrogate pairs, circles
 */
export function canonicalJson(value: unknown): string {
  let text: string | undefined;
  try {
    text = canonicalize(value);
  } catch (cause) {
    throw new TypeError('The value has no JSON form.', { cause });
  }
  if (text === undefined) throw new TypeError('The value has no JSON form.');
  return text;
}
