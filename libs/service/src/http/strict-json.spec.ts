import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseStrictJson } from './strict-json.js';

const parse = (text: string): unknown => parseStrictJson(Buffer.from(text));

describe('parseStrictJson', () => {
  it('reads whatever JSON says', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 20 }), (text) => {
        expect(parse(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('refuses a name twice in one object, and allows it in two', () => {
    fc.assert(
      fc.property(fc.string(), fc.json(), (name, value) => {
        const member = `${JSON.stringify(name)}:${value}`;
        expect(parse(`[{${member}},{${member}}]`)).toHaveLength(2);
        expect(() => parse(`{${member},"other":[{}],${member}}`)).toThrow('no name twice');
      }),
    );
  });

  it.each(['{"a":1,"\\u0061":2}', '{"a":{"b":1,"b":2}}', '{"\\"":1,"\\"":2}'])(
    'sees through %s',
    (text) => {
      expect(() => parse(text)).toThrow('no name twice');
    },
  );

  it.each(['{"a":"a:a,a"}', '{"a":["a","a"],"b":"a"}', '{"a":{"a":{"a":1}}}'])(
    'takes %s',
    (text) => {
      expect(parse(text)).toEqual(JSON.parse(text));
    },
  );

  it('refuses what is not UTF-8, or begins with a byte order mark', () => {
    expect(() => parseStrictJson(Buffer.from([0x22, 0xff, 0x22]))).toThrow('UTF-8');
    expect(() => parseStrictJson(Buffer.from('\ufeff{}'))).toThrow('UTF-8');
  });

  it('takes 32 in one another, and no more', () => {
    const nested = (depth: number): string =>
      `${'[{"a":'.repeat(depth / 2)}1${'}]'.repeat(depth / 2)}`;
    expect(JSON.stringify(parse(nested(32)))).toBe(nested(32));
    expect(() => parse(nested(34))).toThrow('nested deeper than 32');
    expect(parse(`["${'[{'.repeat(50)}","\\"[[${'['.repeat(50)}"]`)).toHaveLength(2);
    expect(parse(`[${'[],{},'.repeat(1000)}0]`)).toHaveLength(2001);
  });

  it.each([
    ['['.repeat(65_000)],
    ['{"a":'.repeat(12_000)],
    ['['.repeat(32_000) + ']'.repeat(32_000)],
  ])('refuses what is nested deep before it parses it', (text) => {
    expect(() => parse(text)).toThrow('nested deeper than 32');
  });

  it('makes of __proto__ a name like any other', () => {
    const value = parse('{"__proto__":{"points":5}}') as object;
    expect(Object.keys(value)).toEqual(['__proto__']);
    expect((value as { points?: number }).points).toBeUndefined();
  });
});
