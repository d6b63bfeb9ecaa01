import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseJsonBody } from './json-body.js';

const LOGS = 400;
const log = (index: number) => ({
  address: `0x${'ab'.repeat(20)}`,
  topics: [`0x${'cd'.repeat(32)}`, `0x${String(index).padStart(64, '0')}`],
  data: `0x${'ef'.repeat(32)}`,
  logIndex: index,
});
const logs = Array.from({ length: LOGS }, (_, index) => log(index));

/** Parses a body, and expects that its bytes are the same afterwards. */
function parsed(text: string): unknown {
  const body = Buffer.from(text);
  try {
    return parseJsonBody(body);
  } finally {
    expect(body.equals(Buffer.from(text))).toBe(true);
  }
}

/** Texts that hold what the list is told by. */
const odd = fc
  .array(
    fc.constantFrom('},{', '}]', '"result":[{', '[{"a":1},{"b":2}]', '\\', '"', 'é', '\u{e000}'),
  )
  .map((parts) => parts.join(''));

describe('parseJsonBody', () => {
  it.each([
    ['a single answer', { jsonrpc: '2.0', id: 1, result: logs }],
    [
      'two lists',
      [
        { id: 1, result: logs },
        { id: 2, result: logs.toReversed() },
      ],
    ],
    ['lists of objects in elements', { id: 1, result: logs.map((one) => ({ one, of: [one] })) }],
    ['a list within a result', { id: 1, result: { result: logs } }],
    ['a list of lists', [[{ id: 1, result: logs }]]],
    ['a long element', { id: 1, result: [{ data: 'a'.repeat(200_000) }, {}, { data: 'b' }] }],
  ])('gives the value of JSON.parse for %s', (_name, value) => {
    expect(parsed(JSON.stringify(value))).toEqual(value);
    expect(parsed(JSON.stringify(value, undefined, 1))).toEqual(value);
  });

  it('gives the value of JSON.parse, whatever the texts hold', () => {
    const anElement = fc.record({ a: odd, b: fc.array(odd, { maxLength: 2 }) });
    const answers = fc.array(
      fc.record({ error: odd, result: fc.oneof(odd, fc.array(anElement)), last: odd }),
    );
    fc.assert(
      fc.property(answers, fc.boolean(), (few, isLastLong) => {
        const long = { result: [...logs, { odd: few }] };
        const text = JSON.stringify(isLastLong ? [...few, long] : [long, ...few]);
        expect(parsed(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('gives each element of the list to the reader of its call, and the reader in place of the list', () => {
    const read: unknown[] = [];
    const reader = { read: (element: unknown) => read.push(element) > 0 };
    const asked: unknown[] = [];
    const readerOf = (id: unknown) => {
      asked.push(id);
      return id === 2 ? reader : undefined;
    };
    const others = { id: 1, result: [{ number: '0x1' }] };
    const text = JSON.stringify([{ id: 2, result: logs }, others]);
    expect(parseJsonBody(Buffer.from(text), readerOf)).toEqual([{ id: 2, result: reader }, others]);
    expect(read).toEqual(logs);
    expect(asked).toEqual([2]);
    const ofAnother = JSON.stringify([others, { id: 3, result: logs }]);
    expect(parseJsonBody(Buffer.from(ofAnother), readerOf)).toEqual(JSON.parse(ofAnother));
  });

  it('gives the list where its reader refuses an element', () => {
    const value = { id: 1, result: logs };
    const text = JSON.stringify(value);
    for (const refused of [0, 200, LOGS - 1]) {
      const reader = {
        read: (element: unknown) => (element as { logIndex: number }).logIndex !== refused,
      };
      const body = Buffer.from(text);
      expect(parseJsonBody(body, () => reader)).toEqual(value);
      expect(body.toString()).toBe(text);
    }
  });

  it('takes the last of two equal names, as JSON.parse does', () => {
    const list = JSON.stringify(logs);
    expect(parsed(`{"result":${list},"result":"0x"}`)).toEqual({ result: '0x' });
    expect(parsed(`{"result":"0x","result":${list}}`)).toEqual({ result: logs });
  });

  it('refuses what is no JSON, as JSON.parse does', () => {
    const text = JSON.stringify({ id: 1, result: logs });
    const wrong = [
      text.slice(0, -1),
      text.slice(0, 80_000),
      `${text},`,
      text.replace('"logIndex":7}', '"logIndex":7,}'),
      text.replace('"logIndex":9},', '"logIndex":9}'),
    ];
    for (const one of wrong) {
      let reason: unknown;
      try {
        JSON.parse(one);
      } catch (error) {
        reason = error;
      }
      expect(reason).toBeInstanceOf(SyntaxError);
      expect(() => parsed(one)).toThrow((reason as Error).message);
    }
  });
});
