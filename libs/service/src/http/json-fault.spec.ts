import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { jsonFault } from './json-fault.js';

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const SPOILING = ['{', '}', '[', ']', ',', ':', '"', '\\', '0', '-', 'e', '.', ' ', '\u0001', 't'];

describe('jsonFault', () => {
  it.each([
    ['', 'line 1, column 1, where it ends'],
    ['  \n', 'line 2, column 1, where it ends'],
    ['{"a":', 'line 1, column 6, where it ends'],
    ['[1,]', 'line 1, column 4'],
    ['{"a":1,}', 'line 1, column 8'],
    ['{"a":1 "b":2}', 'line 1, column 8'],
    ["{'a':1}", 'line 1, column 2'],
    ['{a:1}', 'line 1, column 2'],
    ['{"a"}', 'line 1, column 5'],
    ['[1}', 'line 1, column 3'],
    ['{"a":1]', 'line 1, column 7'],
    ['{}{}', 'line 1, column 3'],
    ['01', 'line 1, column 2'],
    ['{"a":.5}', 'line 1, column 6'],
    ['["open]', 'line 1, column 2'],
    ['["\t"]', 'line 1, column 2'],
    ['["\\x"]', 'line 1, column 2'],
    ['[NaN]', 'line 1, column 2'],
    ['\ufeff{}', 'line 1, column 1'],
    ['<x/>', 'line 1, column 1'],
    ['{\n  "a": 1,\r\n  "b": tru\n}', 'line 3, column 8'],
  ])('says of %j: %s', (text, place) => {
    expect(isJson(text)).toBe(false);
    expect(jsonFault(text)).toBe(place);
  });

  it('finds no fault in JSON', () => {
    fc.assert(
      fc.property(fc.json({ stringUnit: 'binary' }), fc.constantFrom('', '\n '), (text, space) => {
        expect(jsonFault(space + text + space)).toBeUndefined();
      }),
    );
  });

  it('finds one where the parser does', () => {
    const spoilt = fc
      .tuple(fc.json(), fc.nat(), fc.nat(3), fc.constantFrom('', ...SPOILING))
      .map(([text, place, length, more]) => {
        const at = place % (text.length + 1);
        return text.slice(0, at) + more + text.slice(at + length);
      });
    fc.assert(
      fc.property(fc.oneof(spoilt, fc.string()), (text) => {
        expect([text, jsonFault(text) === undefined]).toEqual([text, isJson(text)]);
      }),
      { numRuns: 2000 },
    );
  });

  it('is quick with large texts, and says what is too deep', () => {
    expect(jsonFault(`["${'a'.repeat(500_000)}",`)).toContain('where it ends');
    expect(jsonFault('['.repeat(100_000))).toContain('nested too deep');
  });
});
