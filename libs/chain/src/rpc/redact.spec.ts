import { describe, expect, it } from '@jest/globals';
import { redact, secretsOf } from './redact.js';

describe('what may be said of an endpoint', () => {
  it('finds every part of a URL that may be a credential', () => {
    const url = new URL(
      'https://user:p%40ssword@rpc.example.com/v3/0123456789abcdef?apikey=qwertyuiop&x=1',
    );
    expect(new Set(secretsOf(url))).toEqual(
      new Set(['dXNlcjpwQHNzd29yZA==', '0123456789abcdef', 'qwertyuiop', 'p%40ssword', 'p@ssword']),
    );
  });

  it.each([
    ['a query value as it is in the URL', '?key=ab%2Bcd%2Fef99', 'no ab%2Bcd%2Fef99'],
    ['a query value without its escapes', '?key=ab%2Bcd%2Fef99', 'no ab+cd/ef99'],
    ['a query value with a plus', '?key=ab+cd99', 'no ab+cd99'],
    ['a query value that JSON escapes', '?key=ab%2Fcd%22ef99', String.raw`no ab\/cd\"ef99`],
    ['one escaped by its code', '?key=ab%2Bcd%3Cef99', String.raw`no ab\u002bcd\u003cef99`],
    ['one escaped for a second time', '?key=ab%2Bcd%2Fef99', 'no ab%252Bcd%252Fef99'],
    ['the name in a query', '?q1w2e3r4t5', 'no q1w2e3r4t5'],
    ['the name of a value', '?q1w2e3r4t5=1', 'no q1w2e3r4t5'],
    ['what is behind a = in the path', 'apikey=q1w2e3r4t5', 'no q1w2e3r4t5'],
    ['what is behind a : in the path', 'key:q1w2e3r4t5', 'no q1w2e3r4t5'],
  ])('hides %s', (_, end, text) => {
    expect(redact(text, secretsOf(new URL(`https://rpc.example.com/${end}`)))).toBe(
      'no <redacted>',
    );
  });

  it.each([
    ['user:p%40ssword', 'user:p@ssword'],
    ['lonely-user', 'lonely-user:'],
    ['a%zzuser:p%40ssword', 'a%zzuser:p@ssword'],
  ])('hides what %s@ is sent as', (credentials, sent) => {
    const secrets = secretsOf(new URL(`https://${credentials}@rpc.example.com`));
    const base64 = Buffer.from(sent).toString('base64');
    expect(redact(`refused by Basic ${base64}`, secrets)).toBe('refused by Basic <redacted>');
  });

  it('hides a key wherever a long text is cut', () => {
    const key = 'q1w2e3r4t5y6u7i8o9p0a1s2d';
    for (const length of [280, 299, 1180, 1199, 19_980, 19_990, 19_999, 20_000]) {
      const url = `https://x.io/${'a'.repeat(length - 13)}`;
      expect(redact(`${url} ${key}`, [key])).not.toMatch(/q1w/);
      expect(redact(`${url}${key} ${key}`, [key])).not.toMatch(/q1w/);
    }
  });

  it('leaves the names before a key readable', () => {
    const secrets = secretsOf(new URL('https://rpc.example.com/?apikey=q1w2e3r4t5'));
    expect(redact('the apikey is wrong', secrets)).toBe('the apikey is wrong');
  });

  it('takes them out of a text, with URLs and control characters, in one short line', () => {
    expect(
      redact('bad key 0123456789abcdef\nsee https://x.io/a?b=c\u0007', ['0123456789abcdef']),
    ).toBe('bad key <redacted> see <url>');
    // CSI of terminals in one character, an override of the direction, and a line separator.
    expect(redact('no\u009b2J such\u202e\u200b block\u2028', [])).toBe('no 2J such block');
    expect(redact('y'.repeat(1000), [])).toHaveLength(300);
    expect(redact('y-'.repeat(5_000_000), ['0123456789abcdef'])).toHaveLength(300);
  });
});
