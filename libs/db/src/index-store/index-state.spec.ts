import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Address, parseAddress } from '#libs/domain';
import {
  fingerprintOf,
  type IndexSettings,
  requireSameSettings,
  settingDifferences,
} from './index-state.js';
import { byWallet } from './index-store.js';

const settings: IndexSettings = {
  chainId: 2741,
  stakeContracts: ['0x2222222222222222222222222222222222222222'],
  tokenContract: '0x1111111111111111111111111111111111111111',
  startBlock: '1200',
  events: [{ event: 'Staked' }],
};
const stored = { fingerprint: fingerprintOf(settings), settings: { ...settings } };

describe('requireSameSettings', () => {
  it('accepts the same settings, in whatever order they are written', () => {
    const { chainId, ...rest } = settings;
    expect(() => {
      requireSameSettings(stored, { ...rest, chainId });
    }).not.toThrow();
  });

  it.each<[string, Partial<IndexSettings>]>([
    ['CHAIN_ID', { chainId: 1 }],
    ['STAKE_CONTRACT', { stakeContracts: ['0x3333333333333333333333333333333333333333'] }],
    ['TOKEN_CONTRACT', { tokenContract: '0x4444444444444444444444444444444444444444' }],
    ['STAKE_START_BLOCK', { startBlock: '1' }],
    ['STAKE_EVENTS', { events: [{ event: 'Deposit' }] }],
  ])('refuses another %s and shows both', (variable, change) => {
    expect(() => {
      requireSameSettings(stored, { ...settings, ...change });
    }).toThrow(new RegExp(`${variable} was .* and is now `));
  });

  it('refuses settings that do not belong to their fingerprint', () => {
    expect(() => {
      requireSameSettings({ ...stored, fingerprint: 'other' }, settings);
    }).toThrow('does not belong to its fingerprint');
  });
});

describe('settingDifferences', () => {
  it('compares only what is given', () => {
    expect(settingDifferences(stored, {})).toEqual([]);
    expect(settingDifferences(stored, { chainId: 2741, startBlock: '7' })).toEqual([
      { variable: 'STAKE_START_BLOCK', stored: '"1200"', wanted: '"7"' },
    ]);
  });
});

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
