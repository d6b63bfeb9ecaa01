import { describe, expect, it } from '@jest/globals';
import { isDevelopmentKey } from './private-key.js';

describe('isDevelopmentKey', () => {
  it('knows the keys that anvil prints at its start', () => {
    const first = 'ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';
    expect(isDevelopmentKey(first)).toBe(true);
    expect(isDevelopmentKey(`0x${first.toUpperCase()}`)).toBe(true);
  });

  it('knows no other', () => {
    expect(isDevelopmentKey('01'.repeat(32))).toBe(false);
  });
});
