import { describe, expect, it } from '@jest/globals';
import { retryAfterMs } from './classify-rpc-error.js';

const NOW = Date.UTC(2026, 0, 1, 12, 0, 0);

describe('Retry-After', () => {
  it.each([
    ['7', 7000],
    [' 0.5 ', 500],
    ['0', 0],
    ['Thu, 01 Jan 2026 12:00:30 GMT', 30_000],
    ['Thu, 01 Jan 2026 11:59:00 GMT', 0],
    ['45', 45_000],
    // The endpoint may recover long before, so it is tried once a minute.
    ['1000000000', 60_000],
    ['soon', undefined],
    ['-5', undefined],
    ['', undefined],
    [null, undefined],
  ])('%p', (header, expected) => {
    expect(retryAfterMs(header, NOW)).toBe(expected);
  });
});
