import { type FastifyInstance } from 'fastify';
import { type JSONVisitor, visit } from 'jsonc-parser';
import { HttpProblem } from './http-problem.js';

const UTF_8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
/** Of objects and lists in one another: more than any request has, and few enough for all that reads them by recursion. */
const MAX_DEPTH = 32;
const AS_JSON = { disallowComments: true, allowTrailingComma: false, allowEmptyContent: false };

/**
 * A body as I-JSON (RFC 7493) wants it: UTF-8, and no name twice in one object, where two readers could each take another value. What is
 * wrong is told with its place; what was sent is not repeated.
 * @returns undefined for an empty body
 * @throws HttpProblem 400
 */
export function parseStrictJson(bytes: Uint8Array): unknown {
  if (bytes.length === 0) return undefined;
  const text = textOf(bytes);
  requireStrict(text);
  return JSON.parse(text);
}

/** The only bodies that a server takes: plain ones. */
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

/** Ends at the first fault, so that nothing is read deeper than it may be nested. @throws HttpProblem 400 */
function requireStrict(text: string): void {
  /** The names so far of each object, and a set without any for each list, that is open. */
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

/** @param line from 0 on, as the column */
function refuse(what: string, line: number, column: number, more = ''): never {
  const place = `line ${line + 1}, column ${column + 1}${more}`;
  throw HttpProblem.badRequest('body', `The body ${what}: ${place}.`);
}
