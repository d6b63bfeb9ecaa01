const UTF_8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:]/g;
const NAME = /^\w{1,64}$/;

/**
 * JSON as I-JSON (RFC 7493) wants it: UTF-8 without a byte order mark, and no field twice, where two readers could each take
 * another one.
 * @throws SyntaxError that never repeats what was sent
 */
export function parseStrictJson(bytes: Uint8Array): unknown {
  let text: string;
  let value: unknown;
  try {
    text = UTF_8.decode(bytes);
    value = JSON.parse(text);
  } catch {
    throw new SyntaxError('The body is not JSON in UTF-8.');
  }
  const twice = repeatedField(text);
  if (twice === undefined) return value;
  const name = NAME.test(twice) ? twice : 'a field';
  throw new SyntaxError(`The body is not usable: ${name} must be given once`);
}

/** @param text valid JSON */
function repeatedField(text: string): string | undefined {
  const open: (Set<string> | undefined)[] = [];
  let last = '';
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '{') open.push(new Set());
    else if (token === '[') open.push(undefined);
    else if (token === '}' || token === ']') open.pop();
    else if (token === ':') {
      const names = open.at(-1);
      const name = JSON.parse(last) as string;
      if (names?.has(name) === true) return name;
      names?.add(name);
    }
    last = token;
  }
  return undefined;
}
