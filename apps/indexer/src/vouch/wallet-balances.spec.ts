import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { firstDisagreement } from './wallet-balances.js';

describe('firstDisagreement', () => {
  it('finds the first block at which both sides differ', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(5000), fc.integer({ min: 1, max: 5000 }), async (good, length) => {
        const bad = good + length;
        const wrong = good + 1 + ((good * 7919) % length);
        const found = await firstDisagreement(BigInt(good), BigInt(bad), (block) =>
          Promise.resolve(block < BigInt(wrong)),
        );
        expect(found).toBe(BigInt(wrong));
      }),
    );
  });

  it('gives up where a node no longer has the state', async () => {
    expect(await firstDisagreement(1n, 100n, () => Promise.resolve(undefined))).toBeUndefined();
  });
});
