import { describe, expect, it } from '@jest/globals';
import { chartData } from './chart-data.js';

const HISTORY = {
  from: '2026-03-01T00:00:00.000Z',
  indexedUntil: '2026-03-03T06:00:00.000Z',
  balance: '70',
  days: [
    { day: '2026-03-01', low: '100', closing: '150', isOpen: false },
    { day: '2026-03-02', low: '40.5', closing: '40.5', isOpen: false },
    { day: '2026-03-03', low: '40.5', closing: '70', isOpen: true },
  ],
  changes: [
    { at: '2026-02-20T10:00:00.000Z', block: '1', balance: '100' },
    { at: '2026-03-01T10:00:00.000Z', block: '2', balance: '150' },
    { at: '2026-03-02T12:00:00.000Z', block: '3', balance: '40.5' },
    { at: '2026-03-03T05:00:00.000Z', block: '4', balance: '70' },
  ],
};

describe('chartData', () => {
  it('has both figures at every step, from the beginning to what is indexed', () => {
    const { points, domain } = chartData(HISTORY);
    expect(points.map(({ atMs, exact }) => [new Date(atMs).toISOString(), exact])).toEqual([
      ['2026-03-01T00:00:00.000Z', { low: '100', balance: '100' }],
      ['2026-03-01T10:00:00.000Z', { low: '100', balance: '150' }],
      ['2026-03-02T00:00:00.000Z', { low: '40.5', balance: '150' }],
      ['2026-03-02T12:00:00.000Z', { low: '40.5', balance: '40.5' }],
      ['2026-03-03T00:00:00.000Z', { low: '40.5', balance: '40.5' }],
      ['2026-03-03T05:00:00.000Z', { low: '40.5', balance: '70' }],
      ['2026-03-03T06:00:00.000Z', { low: '40.5', balance: '70' }],
    ]);
    expect(domain).toEqual([points[0]?.atMs, points.at(-1)?.atMs]);
  });

  it('has exact texts, whatever a number would make of them', () => {
    const balance = '123456789.012345678901234567';
    const { points } = chartData({ ...HISTORY, balance });
    expect(points.at(-1)?.exact.balance).toBe(balance);
  });

  it('names few days, however many there are', () => {
    const days = Array.from({ length: 90 }, (_, place) => ({
      day: new Date(Date.UTC(2026, 0, 1 + place)).toISOString().slice(0, 10),
      ...{ low: '1', closing: '1', isOpen: false },
    }));
    const from = '2026-01-01T00:00:00.000Z';
    const { ticks } = chartData({ ...HISTORY, days, from, indexedUntil: '2026-03-31T12:00:00Z' });
    expect(ticks).toHaveLength(8);
    expect(chartData({ ...HISTORY, days: [], changes: [] }).ticks).toEqual([]);
  });
});
