import { type FastifyInstance } from 'fastify';
import { HttpProblem } from './http-problem.js';

const UTF_8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
/** Of objects and lists in one another: more than any request has, and few enough for all that reads them by recursion. */
const MAX_DEPTH = 32;
const [QUOTE, BACKSLASH, ...BRACKETS] = Buffer.from('"\\{[}]');
const [OBJECT, LIST, OBJECT_END, LIST_END] = BRACKETS;
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g;

/**
 * A body as I-JSON (RFC 7493) wants it: UTF-8, and no name twice in one object, where two readers could each take another value. What
 * is nested too deep is refused before it is parsed: everyone may send it.
 * @returns undefined for an empty body
 * @throws HttpProblem 400
 */
export function parseStrictJson(bytes: Uint8Array): unknown {
  if (bytes.length === 0) return undefined;
  if (isTooDeep(bytes)) {
    throw HttpProblem.badRequest('body', `The body is nested deeper than ${MAX_DEPTH}.`);
  }
  try {
    const text = UTF_8.decode(bytes);
    const value: unknown = JSON.parse(text);
    if (!hasNameTwice(text)) return value;
  } catch {
    // The parser's own message is left out: it would repeat what was sent.
  }
  throw HttpProblem.badRequest('body', 'The body must be JSON in UTF-8 with no name twice.');
}

/** The only bodies that a server takes. */
export function takeStrictJsonOnly(fastify: FastifyInstance): void {
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser<Buffer>(
    'application/json',
    { parseAs: 'buffer' },
    (_, body, done) => {
      try {
        done(null, parseStrictJson(body));
      } catch (error) {
        done(error as Error);
      }
    },
  );
}

/** One pass; of bytes that are no JSON the answer means nothing, as the parser refuses them. */
function isTooDeep(bytes: Uint8Array): boolean {
  let depth = 0;
  let isText = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) isText = !isText;
    else if (isText) at += byte === BACKSLASH ? 1 : 0;
    else if (byte === OBJECT || byte === LIST) depth++;
    else if (byte === OBJECT_END || byte === LIST_END) depth--;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

/** @param text valid JSON */
function hasNameTwice(text: string): boolean {
  const objects: Set<string>[] = [];
  let before = '';
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '{' || token === '[') objects.push(new Set());
    else if (token === '}' || token === ']') objects.pop();
    else if (token === ':') {
      const [names, name] = [objects.at(-1), JSON.parse(before) as string];
      if (names?.has(name) === true) return true;
      names?.add(name);
    }
    before = token;
  }
  return false;
}
