import { describe, expect, it } from '@jest/globals';
import { queryOf, questionOf } from './snapshot-question.js';

const ASKED = {
  ...{ keyPrefix: 'svck_a', walletAddress: '0x1', lastDays: '3' },
  ...{ endDay: '2026-11-20', contract: 'eip155:1:0x2' },
};

describe('the question of the snapshot explorer', () => {
  it('comes back from the address that it was kept in', () => {
    expect(questionOf(`?${new URLSearchParams(ASKED).toString()}`)).toEqual(ASKED);
  });

  it('is of the last seven days where nothing was asked', () => {
    const nothing = { keyPrefix: '', walletAddress: '', endDay: '', contract: '' };
    expect(questionOf('')).toEqual({ ...nothing, lastDays: '7' });
  });

  it.each(['yesterday', '2026-13-01', '2026-11-20T00:00:00Z', '20-11-2026', '+010000-01-01'])(
    'has no last day where the address has %s',
    (endDay) => {
      const search = new URLSearchParams({ endDay }).toString();
      expect(questionOf(search).endDay).toBe('');
    },
  );

  it('is sent without what may be absent and is empty', () => {
    expect(queryOf(ASKED)).toEqual(ASKED);
    const { keyPrefix, walletAddress, lastDays } = ASKED;
    const required = { keyPrefix, walletAddress, lastDays };
    expect(queryOf({ ...required, endDay: '', contract: '' })).toEqual(required);
  });
});
