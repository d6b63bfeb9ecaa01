import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { canonicalJson } from './canonical-json.js';

const json = fc.jsonValue({ noUnicodeString: false, maxDepth: 4 });

/** Rebuilds the value with its members in reverse. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([k, v]) => [k, reversed(v)]),
  );
}

describe('canonicalJson', () => {
  it('means the same value, whatever the order of members, and is its own canonical form', () => {
    fc.assert(
      fc.property(json, (value) => {
        const text = canonicalJson(value);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonicalJson(reversed(value))).toBe(text);
        expect(canonicalJson(JSON.parse(text))).toBe(text);
      }),
    );
  });

  it('writes the example of RFC 8785, section 3.2.3', () => {
    const value = {
      '\u20ac': 'Euro Sign',
      '\r': 'Carriage Return',
      '\ufb33': 'Hebrew Letter Dalet With Dagesh',
      '1': 'One',
      '\ud83d\ude00': 'Emoji: Grinning Face',
      '\u0080': 'Control',
      '\u00f6': 'Latin Small Letter O With Diaeresis',
    };
    const keys = [...canonicalJson(value).matchAll(/"([^"]+)":/g)].map(([, key]) => key);
    expect(keys).toEqual(['\\r', '1', '\u0080', '\u00f6', '\u20ac', '\ud83d\ude00', '\ufb33']);
  });

  it.each([
    [333333333.33333329, '333333333.3333333'],
    [1e30, '1e+30'],
    [4.5, '4.5'],
    [2e-3, '0.002'],
    [1e-27, '1e-27'],
    [-0, '0'],
  ])('writes the number %s as %s', (value, text) => {
    expect(canonicalJson(value)).toBe(text);
  });

  it.each([[NaN], [Infinity], [undefined], [1n], ['\ud800'], [{ a: [NaN] }]])(
    'refuses %p',
    (value) => {
      expect(() => canonicalJson(value)).toThrow(expect.objectContaining({ code: 'NOT_JSON' }));
    },
  );
});
