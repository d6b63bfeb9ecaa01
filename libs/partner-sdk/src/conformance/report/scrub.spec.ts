import { describe, expect, it } from '@jest/globals';
import { scrubber } from './reported-exchange.js';

const SECRET = 'sv"cs/Zx+81 ü';
const scrub = scrubber({ apiKey: 'key_of_the_game', sharedSecret: SECRET });

describe('scrubber', () => {
  it.each([
    ['as it is', SECRET],
    ['in JSON', JSON.stringify({ a: SECRET })],
    ['in a URL', `?s=${encodeURIComponent(SECRET)}`],
    ['in base64', Buffer.from(SECRET).toString('base64')],
    ['in hex', Buffer.from(SECRET).toString('hex')],
  ])('strikes the secret out %s', (_, text) => {
    const [shown] = scrub({ list: [text] }).list;
    expect(shown).toContain('(shared secret)');
    expect(shown).not.toContain('Zx');
  });

  it('leaves no half of a secret where a long text is cut', () => {
    for (let before = 1970; before < 2005; before++) {
      const shown = scrub('x'.repeat(before) + SECRET + 'y'.repeat(100));
      expect(shown).not.toContain('sv"');
      expect(shown.length).toBeLessThanOrEqual(2001);
    }
  });

  it('keeps numbers, nulls and the names of fields', () => {
    const value = { key_of_the_game: null, n: 1, flag: true, text: 'key_of_the_game!' };
    expect(scrub(value)).toEqual({ ...value, text: '(API key)!' });
  });
});
