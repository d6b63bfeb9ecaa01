import { describe, expect, it } from '@jest/globals';
import { FakeClock } from '#libs/testing/clock';
import { FreshValue, SingleFlight, TtlCache } from './sharing.js';

describe('SingleFlight', () => {
  it('runs once for all who ask while it is under way, and again afterwards', async () => {
    const flight = new SingleFlight<number>();
    let begun = 0;
    const work = (): Promise<number> => Promise.resolve(++begun);
    expect(await Promise.all([flight.run(work), flight.run(work)])).toEqual([1, 1]);
    expect(flight.underWay()).toBeUndefined();
    expect(await flight.run(work)).toBe(2);
  });

  it('runs once for each key', async () => {
    const flight = new SingleFlight<string, string>();
    const one = flight.run(() => Promise.resolve('one'), 'a');
    const other = flight.run(() => Promise.resolve('other'), 'b');
    expect(flight.underWay('a')).toBe(one);
    expect(await Promise.all([one, other])).toEqual(['one', 'other']);
  });

  it('gives a failure to all who wait for it, and keeps nothing of it', async () => {
    const flight = new SingleFlight<number>();
    const failing = (): Promise<number> => Promise.reject(new Error('down'));
    const both = [flight.run(failing), flight.run(() => Promise.resolve(1))];
    expect(await Promise.allSettled(both)).toEqual([
      { status: 'rejected', reason: new Error('down') },
      { status: 'rejected', reason: new Error('down') },
    ]);
    expect(await flight.run(() => Promise.resolve(1))).toBe(1);
  });
});

function aCache(max = 10) {
  const clock = new FakeClock(1_000_000);
  return { clock, cache: new TtlCache<string, number>({ clock, ttlMs: 5000, max }) };
}

describe('TtlCache', () => {
  it('gives a value until its time has passed, and afterwards only as the last one', () => {
    const { clock, cache } = aCache();
    cache.set('a', 1);
    clock.advance(4999);
    expect(cache.get('a')).toBe(1);
    clock.advance(1);
    expect(cache.get('a')).toBeUndefined();
    expect(cache.last('a')).toBe(1);
    expect(cache.last('b')).toBeUndefined();
  });

  it('takes a time for one value, for ever too', () => {
    const { clock, cache } = aCache();
    cache.set('short', 1, { ttlMs: 10 });
    cache.set('ever', 2, { ttlMs: Infinity });
    clock.advance(10);
    expect([cache.get('short'), cache.get('ever')]).toEqual([undefined, 2]);
    clock.advance(1e12);
    expect(cache.get('ever')).toBe(2);
  });

  it('does not give a value after the clock was set back', () => {
    const { clock, cache } = aCache();
    cache.set('a', 1);
    clock.advance(-1);
    expect(cache.get('a')).toBeUndefined();
  });

  it('forgets the value that was used longest ago beyond its bound', () => {
    const { cache } = aCache(2);
    cache.set('a', 1);
    cache.set('b', 2);
    cache.get('a');
    cache.set('c', 3);
    expect(['a', 'b', 'c'].map((key) => cache.last(key))).toEqual([1, undefined, 3]);
  });
});

function aFreshValue() {
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
    const { clock, fresh } = aFreshValue();
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
    const { source, fresh } = aFreshValue();
    source.isDown = true;
    await expect(fresh.get()).rejects.toThrow('down');
    source.isDown = false;
    expect(await fresh.get()).toBe(2);
  });
});
