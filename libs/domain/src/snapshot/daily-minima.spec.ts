import { describe, expect, it } from '@jest/globals';
import { dailyMinima } from './snapshot.js';

describe('dailyMinima', () => {
  const window = { firstDay: 100, endDay: 107 };
  const minima = (...rows: { day: number; low: bigint | null; closing: bigint }[]) =>
    dailyMinima(rows, window).map(({ minimum }) => Number(minimum));

  it('is 0 throughout without rows', () => {
    expect(minima()).toEqual([0, 0, 0, 0, 0, 0, 0]);
  });

  it('carries the closing balance of the newest row before the window', () => {
    expect(minima({ day: 50, low: 0n, closing: 5n }, { day: 99, low: null, closing: 8n })).toEqual([
      8, 8, 8, 8, 8, 8, 8,
    ]);
  });

  it('takes the rows of the published example in any order', () => {
    expect(
      minima(
        { day: 105, low: 650n, closing: 700n },
        { day: 101, low: 100n, closing: 300n },
        { day: 103, low: 300n, closing: 150n },
        { day: 100, low: 0n, closing: 100n },
        { day: 104, low: 150n, closing: 650n },
        { day: 106, low: 700n, closing: 650n },
      ),
    ).toEqual([0, 100, 300, 150, 150, 650, 650]);
  });

  it('ignores the day of the request', () => {
    expect(minima({ day: 107, low: 1n, closing: 2n })).toEqual([0, 0, 0, 0, 0, 0, 0]);
  });
});
