import { describe, expect, it } from '@jest/globals';
import { SuspectRanges } from './suspect-ranges.js';

const doubts = (): SuspectRanges => {
  const all = new SuspectRanges();
  all.add({ from: 10n, to: 12n, avoid: ['one'], by: 'logs' });
  all.add({ from: 20n, to: 20n, avoid: [], by: 'receipts' });
  return all;
};

describe('SuspectRanges', () => {
  it.each([
    [1n, 9n, 9n],
    [1n, 10n, 9n],
    [1n, 100n, 9n],
    [10n, 100n, 12n],
    [11n, 11n, 11n],
    [13n, 100n, 19n],
    [20n, 100n, 20n],
    [21n, 100n, 100n],
  ])('cuts %s to %s at %s', (from, to, cut) => {
    expect(doubts().cut({ from, to })).toEqual({ from, to: cut });
  });

  it('knows which doubt covers a block', () => {
    expect(doubts().covering(11n)?.avoid).toEqual(['one']);
    expect(doubts().covering(20n)?.by).toBe('receipts');
    expect(doubts().covering(13n)).toBeUndefined();
  });

  it('forgets what has been verified since', () => {
    const all = doubts();
    all.forgetUpTo(15n);
    expect(all.covering(11n)).toBeUndefined();
    expect(all.covering(20n)).toBeDefined();
  });
});
