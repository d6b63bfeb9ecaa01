import { describe, expect, it } from '@jest/globals';
import { FakeClock } from '#libs/testing/clock';
import { TtlCache } from './sharing.js';

function setUp(max = 10) {
  const clock = new FakeClock(1_000_000);
  return { clock, cache: new TtlCache<string, number>({ clock, ttlMs: 5000, max }) };
}

describe('TtlCache', () => {
  it('gives a value until its time has passed, and afterwards only as the last one', () => {
    const { clock, cache } = setUp();
    cache.set('a', 1);
    clock.advance(4999);
    expect(cache.get('a')).toBe(1);
    clock.advance(1);
    expect(cache.get('a')).toBeUndefined();
    expect(cache.last('a')).toBe(1);
    expect(cache.last('b')).toBeUndefined();
  });

  it('takes a time for one value, for ever too', () => {
    const { clock, cache } = setUp();
    cache.set('short', 1, { ttlMs: 10 });
    cache.set('ever', 2, { ttlMs: Infinity });
    clock.advance(10);
    expect([cache.get('short'), cache.get('ever')]).toEqual([undefined, 2]);
    clock.advance(1e12);
    expect(cache.get('ever')).toBe(2);
  });

  it('does not give a value after the clock was set back', () => {
    const { clock, cache } = setUp();
    cache.set('a', 1);
    clock.advance(-1);
    expect(cache.get('a')).toBeUndefined();
  });

  it('forgets the value that was used longest ago beyond its bound', () => {
    const { cache } = setUp(2);
    cache.set('a', 1);
    cache.set('b', 2);
    cache.get('a');
    cache.set('c', 3);
    expect(['a', 'b', 'c'].map((key) => cache.last(key))).toEqual([1, undefined, 3]);
  });
});
