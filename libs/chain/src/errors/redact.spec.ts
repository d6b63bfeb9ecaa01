import { describe, expect, it } from '@jest/globals';
import { redact, secretsOf } from './redact.js';

describe('what may be said of an endpoint', () => {
  it('finds every part of a URL that may be a credential', () => {
    const url = new URL(
      'https://user:p%40ssword@rpc.example.com/v3/0123456789abcdef?apikey=qwertyuiop&x=1',
    );
    expect(new Set(secretsOf(url))).toEqual(
      new Set(['0123456789abcdef', 'qwertyuiop', 'p%40ssword', 'p@ssword']),
    );
  });

  it('takes them out of a text, with URLs and control characters, in one short line', () => {
    expect(
      redact('bad key 0123456789abcdef\nsee https://x.io/a?b=c\u0007', ['0123456789abcdef']),
    ).toBe('bad key <redacted> see <url>');
    expect(redact('y'.repeat(1000), [])).toHaveLength(300);
  });
});
