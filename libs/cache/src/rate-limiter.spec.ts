import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { FakeClock } from '#libs/testing/clock';
import { addressKey, MemoryRateLimiter, siteKey } from './rate-limiter.js';

const POLICY = { rate: 20, burst: 100 };

function takes(limiter: MemoryRateLimiter, count: number, key = 'a') {
  return Array.from({ length: count }, () => limiter.take(key, POLICY));
}

describe('MemoryRateLimiter', () => {
  it('keeps keys apart, and a refused request costs nothing', () => {
    const clock = new FakeClock(0);
    const limiter = new MemoryRateLimiter(clock);
    takes(limiter, 500);
    expect(limiter.take('b', POLICY).allowed).toBe(true);
    clock.advance(50);
    expect(limiter.take('a', POLICY).allowed).toBe(true);
  });

  it('gives back what was taken', () => {
    const limiter = new MemoryRateLimiter(new FakeClock(0));
    takes(limiter, 100);
    limiter.giveBack('a', POLICY);
    limiter.giveBack('nobody', POLICY);
    expect(takes(limiter, 2).map(({ allowed }) => allowed)).toEqual([true, false]);
  });

  it('never allows more than burst + rate x time, and never less than what a token bucket would', () => {
    const steps = fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 100 });
    const policies = fc.record({
      rate: fc.integer({ min: 1, max: 50 }),
      burst: fc.integer({ min: 1, max: 20 }),
    });
    // The later the time, the coarser fractions of milliseconds are rounded.
    const starts = fc.constantFrom(5_000, 1_800_000_000_000);
    fc.assert(
      fc.property(steps, policies, starts, (waits, policy, startMs) => {
        const clock = new FakeClock(startMs);
        const limiter = new MemoryRateLimiter(clock);
        // The bucket counts thousandths of a token, so that it is exact.
        let bucket = policy.burst * 1000;
        for (const wait of waits) {
          clock.advance(wait);
          bucket = Math.min(policy.burst * 1000, bucket + wait * policy.rate);
          const { allowed, remaining } = limiter.take('k', policy);
          expect(allowed).toBe(bucket >= 1000);
          if (allowed) bucket -= 1000;
          expect(remaining).toBe(Math.floor(bucket / 1000));
        }
      }),
    );
  });

  it('counts a batch whole or not at all', () => {
    const clock = new FakeClock(0);
    const limiter = new MemoryRateLimiter(clock);
    expect(limiter.take('a', POLICY, 60)).toMatchObject({ allowed: true, remaining: 40 });
    const refused = { allowed: false, remaining: 40, retryAfterSeconds: 1 };
    expect(limiter.take('a', POLICY, 41)).toMatchObject(refused);
    expect(limiter.take('a', POLICY, 100)).toMatchObject({ ...refused, retryAfterSeconds: 3 });
    expect(limiter.take('a', POLICY, 40)).toMatchObject({ allowed: true, remaining: 0 });
    clock.advance(5000);
    expect(limiter.take('a', POLICY, 101).allowed).toBe(false);
    expect(limiter.take('a', POLICY, 100)).toMatchObject({ allowed: true, remaining: 0 });
  });

  it('locks nobody out after the clock was set back', () => {
    const clock = new FakeClock(10_000_000);
    const limiter = new MemoryRateLimiter(clock);
    takes(limiter, 100);
    clock.set(0);
    expect(limiter.take('a', POLICY).allowed).toBe(true);
  });

  it('remembers a bounded number of keys', () => {
    const limiter = new MemoryRateLimiter(new FakeClock(0), { maxCallers: 10 });
    takes(limiter, 100, 'old');
    for (let i = 0; i < 10; i++) limiter.take(`new${i}`, POLICY);
    expect(limiter.take('old', POLICY).remaining).toBe(99);
  });

  describe('of one of several processes', () => {
    it('admits its part of burst and rate', () => {
      const clock = new FakeClock(1_000_000);
      const limiter = new MemoryRateLimiter(clock, { replicas: 4 });
      expect(limiter.take('a', POLICY)).toMatchObject({ limit: 100, remaining: 24 });
      expect(takes(limiter, 100).filter(({ allowed }) => allowed)).toHaveLength(24);
      const refused = { allowed: false, limit: 100, remaining: 0 };
      expect(limiter.take('a', POLICY)).toMatchObject({ ...refused, resetSeconds: 5 });
      clock.advance(1000);
      expect(takes(limiter, 100).filter(({ allowed }) => allowed)).toHaveLength(5);
      limiter.giveBack('a', POLICY);
      expect(takes(limiter, 2).map(({ allowed }) => allowed)).toEqual([true, false]);
    });

    it('admits one request where its part is smaller', () => {
      const clock = new FakeClock(1_000_000);
      const limiter = new MemoryRateLimiter(clock, { replicas: 5 });
      const policy = { rate: 1, burst: 2 };
      const allowed = (): boolean => limiter.take('a', policy).allowed;
      expect([allowed(), allowed()]).toEqual([true, false]);
      clock.advance(4999);
      expect(allowed()).toBe(false);
      clock.advance(1);
      expect([allowed(), allowed()]).toEqual([true, false]);
    });

    it('admits with the others no more than burst + rate x time', () => {
      const steps = fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 100 });
      const limits = fc.record({
        replicas: fc.integer({ min: 1, max: 5 }),
        rate: fc.integer({ min: 1, max: 50 }),
        burst: fc.integer({ min: 5, max: 40 }),
      });
      fc.assert(
        fc.property(steps, limits, (waits, { replicas, ...policy }) => {
          const clock = new FakeClock(1_800_000_000_000);
          const all = Array.from({ length: replicas }, () => {
            return new MemoryRateLimiter(clock, { replicas });
          });
          let owedMs = 0;
          for (const wait of waits) {
            clock.advance(wait);
            owedMs = Math.max(0, owedMs - wait);
            for (const limiter of all) {
              while (limiter.take('k', policy).allowed) owedMs += 1000 / policy.rate;
            }
            expect(owedMs).toBeLessThanOrEqual((1000 / policy.rate) * policy.burst + 0.1);
          }
        }),
      );
    });
  });
});

describe('the keys of', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7', undefined],
    ['::ffff:203.0.113.7', '203.0.113.7', undefined],
    ['::FFFF:203.0.113.7', '203.0.113.7', undefined],
    ['::ffff:cb00:7107', '203.0.113.7', undefined],
    ['0:0:0:0:0:ffff:cb00:7107', '203.0.113.7', undefined],
    ['::ffff:203.0.113.7%eth0', '203.0.113.7', undefined],
    ['203.0.113.7:51234', '203.0.113.7', undefined],
    ['[::ffff:203.0.113.7]:51234', '203.0.113.7', undefined],
    [' 203.0.113.7 ', '203.0.113.7', undefined],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64', '2001:db8:1::/48'],
    ['2001:DB8:1:2::9', '2001:db8:1:2::/64', '2001:db8:1::/48'],
    ['2001:db8:1:2::9%0', '2001:db8:1:2::/64', '2001:db8:1::/48'],
    ['[2001:db8:1:2::9]:51234', '2001:db8:1:2::/64', '2001:db8:1::/48'],
    ['[2001:db8:1:2::9]', '2001:db8:1:2::/64', '2001:db8:1::/48'],
    ['2001:0db8:0001:0002::', '2001:db8:1:2::/64', '2001:db8:1::/48'],
    ['2001:db8:1:ffff::1', '2001:db8:1:ffff::/64', '2001:db8:1::/48'],
    ['2001:db8::1', '2001:db8:0:0::/64', '2001:db8:0::/48'],
    ['::1', '0:0:0:0::/64', '0:0:0::/48'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64', 'fe80:0:0::/48'],
    ['64:ff9b::192.0.2.33', '64:ff9b:0:0::/64', '64:ff9b:0::/48'],
    [undefined, 'unknown', undefined],
    ['', 'unknown', undefined],
    ['Made Up', 'unknown', undefined],
    ['203.0.113', 'unknown', undefined],
    ['203.0.113.007', 'unknown', undefined],
    ['203.0.113.7:port', 'unknown', undefined],
    ['[203.0.113.7', 'unknown', undefined],
    ['2001:db8::1::2', 'unknown', undefined],
    ['x'.repeat(10_000), 'unknown', undefined],
    [`fe80::1%${'x'.repeat(10_000)}`, 'unknown', undefined],
  ])('%p are %s and %s', (address, key, site) => {
    expect([addressKey(address), siteKey(address)]).toEqual([key, site]);
  });
});
