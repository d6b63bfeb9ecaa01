import { type FastifyInstance } from 'fastify';
import { type JSONVisitor, visit } from 'jsonc-parser';
import { HttpProblem } from './http-problem.js';

const UTF_8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
/** Maximum nesting of objects and lists: more than any request needs, and safe for recursive code. */
const MAX_DEPTH = 32;
const AS_JSON = { disallowComments: true, allowTrailingComma: false, allowEmptyContent: false };

/**
 * Parses a body as I-JSON (RFC 7493): UTF-8, and no duplicate name in an object, since two parsers could each take
 * another value. Errors give the place and do not repeat the body.
 * @returns undefined for an empty body
 * @throws HttpProblem 400
 */
export function parseStrictJson(bytes: Uint8Array): unknown {
  if (bytes.length === 0) return undefined;
  const text = textOf(bytes);
  requireStrict(text);
  return JSON.parse(text);
}

/** Makes the server accept only JSON bodies without content encoding. */
export function takeStrictJsonOnly(fastify: FastifyInstance): void {
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser<Buffer>(
    'application/json',
    { parseAs: 'buffer' },
    ({ headers }, body, done) => {
      try {
        requirePlain(headers['content-encoding']);
        done(null, parseStrictJson(body));
      } catch (error) {
        done(error as Error);
      }
    },
  );
}

/** @throws HttpProblem 415 */
function requirePlain(encoding = 'identity'): void {
  if (encoding.trim().toLowerCase() === 'identity') return;
  throw new HttpProblem(415, 'A body with a Content-Encoding is not supported: send it plain.');
}

function textOf(bytes: Uint8Array): string {
  try {
    return UTF_8.decode(bytes);
  } catch {
    throw HttpProblem.badRequest('body', 'The body is not JSON in UTF-8.');
  }
}

/** Stops at the first error, so that parsing never goes deeper than MAX_DEPTH. @throws HttpProblem 400 */
function requireStrict(text: string): void {
  /** One set for each open object or list: the names that the object has so far; empty for a list. */
  const open: Set<string>[] = [];
  const begin = (...[, , line, column]: Place): void => {
    open.push(new Set());
    if (open.length > MAX_DEPTH) refuse(`is nested deeper than ${MAX_DEPTH}`, line, column);
  };
  const end = (): void => {
    open.pop();
  };
  visit(
    text,
    {
      onObjectBegin: begin,
      onArrayBegin: begin,
      onObjectEnd: end,
      onArrayEnd: end,
      onObjectProperty: (name, ...[, , line, column]) => {
        const names = open.at(-1);
        if (names?.has(name) === true) refuse('has a name twice in one object', line, column);
        if (name === '__proto__') refuse('must not have the name __proto__', line, column);
        names?.add(name);
      },
      onError: (...[, offset, , line, column]) => {
        refuse('is not JSON', line, column, offset >= text.length ? ', where it ends' : '');
      },
    },
    AS_JSON,
  );
}

type Place = Parameters<NonNullable<JSONVisitor['onObjectBegin']>>;

/** @param line from 0 on; `column` too */
function refuse(what: string, line: number, column: number, more = ''): never {
  const place = `line ${line + 1}, column ${column + 1}${more}`;
  throw HttpProblem.badRequest('body', `The body ${what}: ${place}.`);
}
