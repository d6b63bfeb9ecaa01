import { type FastifyInstance } from 'fastify';
import { HttpProblem } from './http-problem.js';

const UTF_8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g;

/**
 * A body as I-JSON (RFC 7493) wants it: UTF-8, and no name twice in one object, where two readers could each take another value.
 * @returns undefined for an empty body
 * @throws HttpProblem 400
 */
export function parseStrictJson(bytes: Uint8Array): unknown {
  if (bytes.length === 0) return undefined;
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
