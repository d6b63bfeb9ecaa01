import { describe, expect, it } from '@jest/globals';
import { filterOf, searchOf } from './search.js';

describe('the search in an address', () => {
  it('has what is known, as text, and leads to the tab', () => {
    expect(searchOf({ state: 'claimed', partner: 12, wallet: '', other: 'x', id: ['a'] })).toEqual({
      state: 'claimed',
      partner: '12',
      tab: 'search',
    });
    expect(searchOf({})).toEqual({});
    expect(searchOf({ tab: 'queue' })).toEqual({});
    expect(searchOf({ tab: 'search' })).toEqual({ tab: 'search' });
  });

  it('stays while what is to do is looked at', () => {
    const kept = { state: 'claimed', tab: 'queue' };
    expect(searchOf(kept)).toEqual(kept);
    expect(filterOf(searchOf(kept))).toEqual({ state: 'claimed' });
  });

  it('is asked for without the tab', () => {
    expect(filterOf({ tab: 'search', id: '0199' })).toEqual({ id: '0199' });
  });
});
