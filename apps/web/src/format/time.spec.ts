import { expect, it } from '@jest/globals';
import { formatCountdown, formatTime, formatUtc, formatWait, upToMinute } from './time.js';

const NOW = Date.UTC(2026, 10, 23, 12, 0);

it('a time of today is a time of day; another has its date', () => {
  const at = (iso: string, zone: string) => formatTime(iso, 'en-GB', NOW, zone);
  expect(at('2026-11-23T14:32:05.000Z', 'UTC')).toBe('14:32');
  expect(at('2026-11-23T14:32:05.000Z', 'Europe/Berlin')).toBe('15:32');
  expect(at('2026-11-24T01:00:00.000Z', 'UTC')).toBe('24 Nov 2026, 01:00');
  // Today in UTC, but tomorrow in Tokyo.
  expect(at('2026-11-23T23:30:00.000Z', 'Asia/Tokyo')).toBe('24 Nov 2026, 08:30');
});

it('what comes by a time is not late where the seconds are cut', () => {
  expect(upToMinute('2026-11-23T15:15:03.000Z')).toBe('2026-11-23T15:16:00.000Z');
  expect(upToMinute('2026-11-23T15:15:00.001Z')).toBe('2026-11-23T15:16:00.000Z');
  expect(upToMinute('2026-11-23T15:15:00.000Z')).toBe('2026-11-23T15:15:00.000Z');
  expect(upToMinute('2026-11-23T23:59:30.000Z')).toBe('2026-11-24T00:00:00.000Z');
});

it('a UTC time says so', () => {
  expect(formatUtc('2026-11-23T14:32:05.999Z')).toBe('2026-11-23 14:32:05 UTC');
});

it.each([
  [245_000, '4:05'],
  [244_001, '4:05'],
  [3_845_000, '1:04:05'],
  [0, '0:00'],
  [-5_000, '0:00'],
])('%i ms are %s', (ms, expected) => {
  expect(formatCountdown(ms)).toBe(expected);
});

it.each([
  [0, 'in 1 second'],
  [30, 'in 30 seconds'],
  [300, 'in 5 minutes'],
  [5_400, 'in 2 hours'],
  [172_800, 'in 2 days'],
])('%i s are %s', (seconds, expected) => {
  expect(formatWait(seconds, 'en-GB')).toBe(expected);
});
