import { describe, expect, it } from '@jest/globals';
import { scramVerifier } from './scram-verifier.js';

describe('scramVerifier', () => {
  it('is what RFC 7677 computes of its example', () => {
    // RFC 7677, section 3: user "user", password "pencil"; the keys follow from the salt and 4096 iterations.
    const salt = Buffer.from('W22ZaJ0SNY7soEsUEjb6gQ==', 'base64');
    expect(scramVerifier('pencil', salt)).toBe(
      'SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=',
    );
  });

  it('is another one each time, and never holds the password', () => {
    const [one, other] = [scramVerifier('a password'), scramVerifier('a password')];
    expect(one).not.toBe(other);
    expect(one).not.toContain('a password');
  });

  it('refuses what PostgreSQL would normalise first', () => {
    expect(() => scramVerifier('pässword')).toThrow('printable ASCII');
    expect(() => scramVerifier('')).toThrow('printable ASCII');
  });
});
