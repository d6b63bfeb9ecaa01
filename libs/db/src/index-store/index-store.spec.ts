import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Address, parseAddress } from '#libs/domain';
import { byWallet } from './index-store.js';

const wallets = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes) => parseAddress(`0x${Buffer.from(bytes).toString('hex')}`) as Address);

describe('byWallet', () => {
  it('keeps every row, in the order of the first digits and otherwise in the order given', () => {
    fc.assert(
      fc.property(fc.array(wallets, { maxLength: 50 }), (all) => {
        const rows = all.map((wallet, place) => ({ wallet, place }));
        const digits = ({ wallet }: { wallet: Address }): string => wallet.slice(0, 5);
        const expected = rows.toSorted((a, b) =>
          digits(a) === digits(b) ? a.place - b.place : digits(a) < digits(b) ? -1 : 1,
        );
        expect(byWallet(rows)).toEqual(expected);
      }),
    );
  });
});
