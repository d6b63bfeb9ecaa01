import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { HttpProblem } from './http-problem.js';
import { parseStrictJson } from './strict-json.js';

const parse = (text: string): unknown => parseStrictJson(Buffer.from(text));

/** The fault that the refusal names; undefined where the body is accepted. */
function faultIn(text: string | Buffer): string | undefined {
  try {
    parseStrictJson(Buffer.from(text));
    return undefined;
  } catch (error) {
    const { status, field, message } = error as HttpProblem;
    expect([error instanceof HttpProblem, status, field]).toEqual([true, 400, 'body']);
    return /^The body (.+)\.$/.exec(message)?.[1] ?? message;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const SPOILING = ['{', '}', '[', ']', ',', ':', '"', '\\', '0', '-', 'e', '.', ' ', '\u0001', 't'];

describe('parseStrictJson', () => {
  it('reads whatever JSON says', () => {
    const json = fc.json({ maxDepth: 20, stringUnit: 'binary' });
    fc.assert(
      fc.property(json, fc.constantFrom('', '\n '), (text, space) => {
        fc.pre(!text.includes('__proto__'));
        expect(parse(space + text + space)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('reads nothing from nothing', () => {
    expect(parse('')).toBeUndefined();
  });

  it.each([
    ['  \n', 'line 2, column 1, where it ends'],
    ['{"a":', 'line 1, column 6, where it ends'],
    ['[1,]', 'line 1, column 4'],
    ['{"a":1 "b":2}', 'line 1, column 8'],
    ['{a:1}', 'line 1, column 2'],
    ['[1}', 'line 1, column 3'],
    ['{}{}', 'line 1, column 3'],
    ['01', 'line 1, column 2'],
    ['["open]', 'line 1, column 2'],
    ['["\\x"]', 'line 1, column 2'],
    ['\ufeff{}', 'line 1, column 1'],
    ['{} // no more', 'line 1, column 4'],
    ['{\n  "a": 1,\r\n  "b": tru\n}', 'line 3, column 8'],
  ])('says where %j is no JSON: %s', (text, place) => {
    expect(isJson(text)).toBe(false);
    expect(faultIn(text)).toBe(`is not JSON: ${place}`);
  });

  it('is quick with large bodies', () => {
    const text = `["${'a'.repeat(500_000)}",`;
    expect(faultIn(text)).toBe('is not JSON: line 1, column 500005, where it ends');
  });

  it('refuses what the engine’s own parser does', () => {
    const spoilt = fc
      .tuple(fc.json({ maxDepth: 20 }), fc.nat(), fc.nat(3), fc.constantFrom('', ...SPOILING))
      .map(([text, place, length, more]) => {
        const at = place % (text.length + 1);
        return text.slice(0, at) + more + text.slice(at + length);
      })
      .filter((text) => text !== '');
    fc.assert(
      fc.property(fc.oneof(spoilt, fc.string({ minLength: 1 })), (text) => {
        const fault = faultIn(text);
        fc.pre(fault === undefined || fault.startsWith('is not JSON'));
        expect([text, fault === undefined]).toEqual([text, isJson(text)]);
      }),
      { numRuns: 2000 },
    );
  });

  it('refuses a name twice in one object, and allows it in two', () => {
    fc.assert(
      fc.property(fc.string(), fc.json(), (name, value) => {
        fc.pre(name !== '__proto__' && !value.includes('__proto__'));
        const member = `${JSON.stringify(name)}:${value}`;
        expect(parse(`[{${member}},{${member}}]`)).toHaveLength(2);
        expect(faultIn(`{${member},"${name.length}other":[{}],${member}}`)).toMatch('a name twice');
      }),
    );
  });

  it.each([
    ['{"a":1,\n "\\u0061":2}', 'line 2, column 2'],
    ['{"a":{"b":1,"b":2}}', 'line 1, column 13'],
    ['{"\\"":1,"\\"":2}', 'line 1, column 9'],
    ['{"a":[{}],"a":[]}', 'line 1, column 11'],
  ])('says where %j has a name twice: %s', (text, place) => {
    expect(faultIn(text)).toBe(`has a name twice in one object: ${place}`);
  });

  it.each(['{"a":"a:a,a"}', '{"a":["a","a"],"b":"a"}', '{"a":{"a":{"a":1}}}'])(
    'takes %s',
    (text) => {
      expect(parse(text)).toEqual(JSON.parse(text));
    },
  );

  it('refuses what is not UTF-8', () => {
    expect(faultIn(Buffer.from([0x22, 0xff, 0x22]))).toBe('is not JSON in UTF-8');
  });

  it('takes 32 in one another, and no more', () => {
    const nested = (depth: number): string =>
      `${'[{"a":'.repeat(depth / 2)}1${'}]'.repeat(depth / 2)}`;
    expect(JSON.stringify(parse(nested(32)))).toBe(nested(32));
    expect(faultIn(nested(34))).toBe('is nested deeper than 32: line 1, column 97');
    expect(parse(`["${'[{'.repeat(50)}","\\"[[${'['.repeat(50)}"]`)).toHaveLength(2);
    expect(parse(`[${'[],{},'.repeat(1000)}0]`)).toHaveLength(2001);
  });

  it.each([
    ['lists', '['.repeat(65_000), 33],
    ['objects', '{"a":'.repeat(12_000), 161],
    ['lists with their ends', '['.repeat(32_000) + ']'.repeat(32_000), 33],
  ])('goes no deeper into many %s', (_, text, column) => {
    expect(faultIn(text)).toBe(`is nested deeper than 32: line 1, column ${column}`);
  });

  it('refuses the name __proto__, which a copy of the object could take for its prototype', () => {
    const where = 'must not have the name __proto__: line 1, column';
    expect(faultIn('{"__proto__":{"points":5}}')).toBe(`${where} 2`);
    expect(faultIn('[{"a":1,"\\u005f_proto__":null}]')).toBe(`${where} 9`);
    expect(parse('["__proto__"]')).toEqual(['__proto__']);
  });
});
