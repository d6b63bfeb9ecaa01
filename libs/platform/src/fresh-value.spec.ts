import { describe, expect, it } from '@jest/globals';
import { FakeClock } from '#libs/testing/clock';
import { FreshValue } from './sharing.js';

function setUp() {
  const clock = new FakeClock(1_000_000);
  const source = { loads: 0, isDown: false };
  const load = (): Promise<number> => {
    source.loads += 1;
    return source.isDown ? Promise.reject(new Error('down')) : Promise.resolve(source.loads);
  };
  return { clock, source, fresh: new FreshValue(load, { clock, ttlMs: 2000 }) };
}

describe('FreshValue', () => {
  it('loads once for all who ask, and again when the value is too old', async () => {
    const { clock, fresh } = setUp();
    expect(await Promise.all([fresh.get(), fresh.get()])).toEqual([1, 1]);
    clock.advance(1999);
    expect(await fresh.get()).toBe(1);
    clock.advance(1);
    expect(await fresh.get()).toBe(2);
  });

  it('counts the age from the beginning of the load', async () => {
    const clock = new FakeClock(1_000_000);
    const loads: ((value: number) => void)[] = [];
    const load = (): Promise<number> => new Promise((resolve) => loads.push(resolve));
    const fresh = new FreshValue(load, { clock, ttlMs: 2000 });
    const first = fresh.get();
    clock.advance(1500);
    loads[0]?.(1);
    expect(await first).toBe(1);
    clock.advance(499);
    expect(await fresh.get()).toBe(1);
    clock.advance(1);
    const second = fresh.get();
    loads[1]?.(2);
    expect(await second).toBe(2);
  });

  it('keeps nothing of a load that fails', async () => {
    const { source, fresh } = setUp();
    source.isDown = true;
    await expect(fresh.get()).rejects.toThrow('down');
    source.isDown = false;
    expect(await fresh.get()).toBe(2);
  });
});
