import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Address } from '#libs/domain';
import { totalAt } from './verified-range.js';
import { firstDisagreement } from './wallet-check.js';

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

describe('totalAt', () => {
  const wallet = '0x00000000000000000000000000000000000000aa' as Address;
  const zero = '0x0000000000000000000000000000000000000000' as Address;
  const blocks = [
    { blockNumber: 5n, timestampSeconds: 1, deltas: [{ wallet, amount: 7n }] },
    {
      blockNumber: 9n,
      timestampSeconds: 2,
      deltas: [
        { wallet, amount: -2n },
        { wallet: zero, amount: 2n },
      ],
    },
  ];

  it.each([
    [4n, 100n],
    [5n, 107n],
    [8n, 107n],
    [9n, 105n],
  ])('adds up what happened until block %s, without the zero address', (block, total) => {
    expect(totalAt(100n, blocks, block)).toBe(total);
  });
});
