import { describe, expect, it } from '@jest/globals';
import { queryOf, snapshotSearch } from './snapshot-question.js';

const ASKED = {
  ...{ keyPrefix: 'svck_a', walletAddress: '0x1', lastDays: '3' },
  ...{ endDay: '2026-11-20', contract: 'eip155:1:0x2' },
};

describe('the question of the snapshot explorer', () => {
  it('is kept in the address as it was asked, without what is empty', () => {
    expect(snapshotSearch(ASKED)).toEqual(ASKED);
    expect(snapshotSearch({ ...ASKED, contract: '', lastDays: 3, other: 'x' })).toEqual({
      ...{ keyPrefix: 'svck_a', walletAddress: '0x1', lastDays: '3', endDay: '2026-11-20' },
    });
    expect(snapshotSearch({})).toEqual({});
  });

  it.each(['yesterday', '2026-13-01', '2026-11-20T00:00:00Z', '20-11-2026', '+010000-01-01'])(
    'has no last day where the address has %s',
    (endDay) => {
      expect(snapshotSearch({ ...ASKED, endDay })).not.toHaveProperty('endDay');
    },
  );

  it('is sent without what may be absent and is empty', () => {
    expect(queryOf(ASKED)).toEqual(ASKED);
    const { keyPrefix, walletAddress, lastDays } = ASKED;
    const required = { keyPrefix, walletAddress, lastDays };
    expect(queryOf({ ...required, endDay: '', contract: '' })).toEqual(required);
  });
});
