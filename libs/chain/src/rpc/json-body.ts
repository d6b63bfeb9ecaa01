/** Parses the JSON bodies of nodes, of which the logs of a range are some MiB. */
import { isAscii } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { isRecord } from './hex.js';
import { type ListReader } from './rpc-call.js';

/** About the size of the parts in which a list is parsed. V8 reuses memory only for strings below 128 KiB. */
const PART_BYTES = 64 * 1024;
const LIST_BEGINS = '"result":[{';
const LIST_ENDS = '}]';
const BETWEEN = '},{';
/** Stands for the list in the text around it. No node can know it. ASCII, because V8 parses other texts at twice the cost. */
const MARK = randomUUID();

/** The reader of the list that answers the call with this id, if there is one. */
type ReaderOf = (id: unknown) => ListReader | undefined;

/**
 * The same value as that of `JSON.parse`, or one with a reader in place of the list that it has read. The first list of
 * objects in a result, which is that of the logs, is parsed in parts, at half the cost. The lists of other nodes, such as
 * those with spaces or with lists of objects in their elements, are parsed as one.
 * @param body changes while it is parsed, and is the same afterwards
 * @throws SyntaxError
 */
export function parseJsonBody(body: Buffer, readerOf: ReaderOf = () => undefined): unknown {
  const isLong = body.byteLength > PART_BYTES && isAscii(body);
  const parsed = isLong ? parseInParts(body, readerOf) : undefined;
  return parsed ? parsed.value : JSON.parse(body.toString().replace(/^\uFEFF/, ''));
}

/** Undefined where the list cannot be told from the rest by its first and last characters, or the reader refuses it. */
function parseInParts(body: Buffer, readerOf: ReaderOf): { readonly value: unknown } | undefined {
  const begins = body.indexOf(LIST_BEGINS);
  const ends = body.indexOf(LIST_ENDS, begins);
  if (begins === -1 || ends === -1) return undefined;
  const [start, end] = [begins + LIST_BEGINS.length - 1, ends + 1];
  try {
    const [before, after] = [textOf(body, 0, start - 1), textOf(body, end + 1, body.byteLength)];
    const value: unknown = JSON.parse(`${before}"${MARK}"${after}`);
    const answer = [value].flat().find((one) => isRecord(one) && one['result'] === MARK);
    if (!isRecord(answer)) return undefined;
    const reader = readerOf(answer['id']);
    const elements: unknown[] = [];
    for (const part of partsOf(body, start, end)) {
      for (const element of part) {
        if (reader === undefined) elements.push(element);
        else if (!reader.read(element)) return undefined;
      }
    }
    answer['result'] = reader ?? elements;
    return { value };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** @throws SyntaxError where a part is no list of whole elements */
function* partsOf(body: Buffer, start: number, end: number): Generator<unknown[]> {
  for (let at = start; at < end;) {
    const cut = body.indexOf(BETWEEN, at + PART_BYTES);
    const partEnd = cut === -1 || cut >= end ? end : cut + 1;
    yield JSON.parse(inBrackets(body, at, partEnd)) as unknown[];
    at = partEnd + 1;
  }
}

/** The text from `start` to `end` as a list, in place of the bracket or comma on either side of it. */
function inBrackets(body: Buffer, start: number, end: number): string {
  const [before, after] = [body[start - 1] ?? 0, body[end] ?? 0];
  [body[start - 1], body[end]] = [0x5b, 0x5d];
  const text = textOf(body, start - 1, end + 1);
  [body[start - 1], body[end]] = [before, after];
  return text;
}

function textOf(body: Buffer, start: number, end: number): string {
  return body.toString('latin1', start, end);
}
