import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { isGrant, mintGrant, openGrant } from './grant.js';
import { KeyRing } from './key-ring.js';

const NOW_MS = Date.parse('2026-11-21T12:00:00Z');
const keyRing = new KeyRing(randomBytes(32));
const keyHash = randomBytes(32);
const grant = mintGrant(keyRing, keyHash, NOW_MS + 1000);

describe('a grant', () => {
  it('stands for its key until it ends', () => {
    expect(isGrant(grant)).toBe(true);
    expect(openGrant(keyRing, grant, NOW_MS + 999)).toEqual(keyHash);
    expect(openGrant(keyRing, grant, NOW_MS + 1000)).toBeUndefined();
  });

  it('is of use to those only who have the key that sealed it', () => {
    expect(openGrant(new KeyRing(randomBytes(32)), grant, NOW_MS)).toBeUndefined();
  });

  it.each([
    ['changed', grant.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')).replace('g_A', 'g_B')],
    ['of another prefix', grant.replace('svcg_', 'svch_')],
    ['cut', grant.slice(0, -4)],
    ['a key', `svck_${'a'.repeat(43)}`],
    [
      'a secret sealed for another place',
      `svcg_${keyRing.seal('x'.repeat(78), keyHash).toString('base64url')}`,
    ],
    [
      'another text under the right seal',
      `svcg_${keyRing.seal('x'.repeat(78), Buffer.from('lowmark grant')).toString('base64url')}`,
    ],
  ])('%s is none', (_, text) => {
    expect(openGrant(keyRing, text, NOW_MS)).toBeUndefined();
  });
});
