import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { systemClock } from '#libs/platform';
import { FakeClock, startRedis, type TestRedis } from '#libs/testing';
import { RedisLink } from '../redis/redis-link.js';
import { MemoryRateLimiter } from './memory-rate-limiter.js';
import { type RateVerdict } from './rate-limiter.js';
import { RedisRateLimiter } from './redis-rate-limiter.js';

// The deadline is generous where it is not what is tested: the machine of a test may be busy.
const PATIENT_MS = 5000;
const POLICY = { rate: 20, burst: 100 };

let redis: TestRedis;
const links: RedisLink[] = [];

beforeAll(async () => {
  redis = await startRedis();
});
afterAll(async () => {
  for (const link of links) link.close();
  await redis.stop();
});

async function connected(deadlineMs = PATIENT_MS): Promise<RedisLink> {
  const link = new RedisLink({ url: redis.url, deadlineMs });
  links.push(link);
  expect(await link.whenUp(10_000)).toBe(true);
  return link;
}

let keys = 0;
const aKey = (): string => `test:${process.pid}:${Date.parse('2026-11-21')}:${keys++}`;

const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
};

describe('RedisRateLimiter', () => {
  it('says at each moment what the one in memory says', async () => {
    const link = await connected();
    const waits = fc.array(
      fc.oneof(fc.integer({ min: 0, max: 400 }), fc.integer({ min: -5000, max: 50_000 })),
      { maxLength: 60 },
    );
    const policies = fc.record({
      rate: fc.integer({ min: 1, max: 5000 }),
      burst: fc.integer({ min: 1, max: 20 }),
    });
    await fc.assert(
      fc.asyncProperty(waits, policies, fc.nat({ max: 5 }), async (steps, policy, back) => {
        const clock = new FakeClock(1_800_000_000_000);
        const memory = new MemoryRateLimiter(clock);
        const shared = new RedisRateLimiter(link, new MemoryRateLimiter(clock), () =>
          clock.nowMs(),
        );
        const key = aKey();
        for (const [place, step] of steps.entries()) {
          clock.advance(step);
          expect(await shared.take(key, policy)).toEqual(memory.take(key, policy));
          if (place % 7 !== back) continue;
          memory.giveBack(key, policy);
          shared.giveBack(key, policy);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('admits exactly the burst of many at once through several replicas', async () => {
    const clock = new FakeClock(1_800_000_000_000);
    const replicas = await Promise.all(
      [0, 1, 2].map(
        async () =>
          new RedisRateLimiter(await connected(), new MemoryRateLimiter(clock), () =>
            clock.nowMs(),
          ),
      ),
    );
    const key = aKey();
    const admitted = async (): Promise<number> => {
      const verdicts = await Promise.all(
        replicas.flatMap((replica) =>
          Array.from({ length: 200 }, async () => replica.take(key, POLICY)),
        ),
      );
      return verdicts.filter(({ allowed }) => allowed).length;
    };
    expect(await admitted()).toBe(100);
    clock.advance(1000);
    expect(await admitted()).toBe(20);
    for (let second = 0; second < 60; second += 1) {
      clock.advance(1000);
      expect(await admitted()).toBe(20);
    }
  });

  it('goes by Redis’ own clock, whatever that of the replica says', async () => {
    const wrong = new FakeClock(0);
    const right = new RedisRateLimiter(await connected(), new MemoryRateLimiter(systemClock));
    const off = new RedisRateLimiter(await connected(), new MemoryRateLimiter(wrong));
    const key = aKey();
    const policy = { rate: 0.001, burst: 4 };
    const verdicts: RateVerdict[] = [];
    for (const limiter of [off, right, off, right, off])
      verdicts.push(await limiter.take(key, policy));
    expect(verdicts.map(({ remaining }) => remaining)).toEqual([3, 2, 1, 0, 0]);
    expect(verdicts[4]?.allowed).toBe(false);
  });

  it('goes on from what was known while Redis is dead, and puts what it admitted on the shared account after it', async () => {
    const clock = new FakeClock(1_800_000_000_000);
    const make = async (): Promise<[RedisLink, RedisRateLimiter]> => {
      const link = await connected();
      return [link, new RedisRateLimiter(link, new MemoryRateLimiter(clock), () => clock.nowMs())];
    };
    const [[link, one], [otherLink, other]] = [await make(), await make()];
    const key = aKey();
    for (let i = 0; i < 90; i += 1) await one.take(key, POLICY);
    await redis.kill();
    await until(() => !link.isUp && !otherLink.isUp);
    const local = Array.from({ length: 20 }, () => one.take(key, POLICY) as RateVerdict);
    expect(local.filter(({ allowed }) => allowed)).toHaveLength(10);
    await redis.restart();
    await until(() => link.isUp && otherLink.isUp);
    // A server that forgot everything learns at least of the ten that nobody else can know of; the 90 were its own to lose.
    const first = await one.take(key, POLICY);
    expect(first.remaining).toBeLessThanOrEqual(89);
    expect((await other.take(key, POLICY)).remaining).toBe(first.remaining - 1);
  });
});
