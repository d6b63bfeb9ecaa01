import { describe, expect, it } from '@jest/globals';
import { PlayerCache } from './player-cache.js';

describe('PlayerCache', () => {
  it('holds ten thousand players, and forgets those who came first', async () => {
    const cache = new PlayerCache<number>(3600, { nowMs: () => 0 });
    const get = (key: number): Promise<number> =>
      cache.get(String(key), () => Promise.resolve(key));
    for (let key = 0; key <= 10_000; key += 1) await get(key);
    const reload = (key: number): Promise<number> =>
      cache.get(String(key), () => Promise.resolve(-1));
    expect(await reload(10_000)).toBe(10_000);
    expect(await reload(2)).toBe(2);
    expect(await reload(0)).toBe(-1);
  });
});
