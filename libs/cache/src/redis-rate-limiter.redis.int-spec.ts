import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { systemClock } from '#libs/platform';
import { FakeClock } from '#libs/testing/clock';
import { startRedis, type TestRedis } from '#libs/testing/redis';
import { RedisLink } from './redis-link.js';
import { MemoryRateLimiter, type RateVerdict } from './rate-limiter.js';
import { GIVE_BACK, RedisRateLimiter } from './redis-rate-limiter.js';

// A generous deadline for tests of other things, since the machine of a test may be busy.
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

/** The limiter of one of `replicas` processes. */
function limiterOf(
  link: RedisLink,
  { replicas = 1, clock }: { replicas?: number; clock?: FakeClock } = {},
): RedisRateLimiter {
  return new RedisRateLimiter({
    link,
    own: new MemoryRateLimiter(clock ?? systemClock, { replicas }),
    ...(clock && { nowMs: () => clock.nowMs() }),
  });
}

/** The first call of a script sends the whole of it, and later calls would overtake it. */
async function loadGiveBack(link: RedisLink): Promise<void> {
  await link.run((client) => client.script('LOAD', GIVE_BACK.text));
}

let keys = 0;
const aKey = (): string => `test:${process.pid}:${Date.parse('2026-11-21')}:${keys++}`;

const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
};

describe('RedisRateLimiter', () => {
  it('says at each moment what the one in memory says', async () => {
    const link = await connected();
    await loadGiveBack(link);
    const waits = fc.array(
      fc.tuple(
        fc.oneof(fc.integer({ min: 0, max: 400 }), fc.integer({ min: -5000, max: 50_000 })),
        fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 25 })),
      ),
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
        const shared = limiterOf(link, { clock });
        const key = aKey();
        for (const [place, [step, count]] of steps.entries()) {
          clock.advance(step);
          const counted = await shared.take(key, policy, count);
          expect(counted).toEqual(memory.take(key, policy, count));
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
    const all = await Promise.all([0, 1, 2].map(() => connected()));
    const replicas = all.map((link) => limiterOf(link, { clock }));
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
    const [right, off] = [limiterOf(await connected()), limiterOf(await connected())];
    const key = aKey();
    const policy = { rate: 0.001, burst: 4 };
    const verdicts: RateVerdict[] = [];
    for (const limiter of [off, right, off, right, off])
      verdicts.push(await limiter.take(key, policy));
    expect(verdicts.map(({ remaining }) => remaining)).toEqual([3, 2, 1, 0, 0]);
    expect(verdicts[4]?.allowed).toBe(false);
  });

  it('admits its part of a limit while Redis is dead, and the whole limit again once it is back', async () => {
    const policy = { rate: 0.001, burst: 100 };
    const links = [await connected(), await connected()];
    const limiters = links.map((link) => limiterOf(link, { replicas: 2 }));
    const [one, other] = limiters as [RedisRateLimiter, RedisRateLimiter];
    const key = aKey();
    const take = (limiter: RedisRateLimiter, times: number): Promise<RateVerdict[]> =>
      Promise.all(Array.from({ length: times }, async () => limiter.take(key, policy)));
    const admitted = (verdicts: readonly RateVerdict[]): number =>
      verdicts.filter(({ allowed }) => allowed).length;
    expect(admitted([...(await take(one, 70)), ...(await take(other, 70))])).toBe(100);

    await redis.kill();
    await until(() => links.every(({ isUp }) => !isUp));
    for (const limiter of limiters) {
      const verdicts = await take(limiter, 70);
      expect(verdicts[0]).toMatchObject({ allowed: true, limit: 100, remaining: 49 });
      expect(verdicts.at(-1)).toMatchObject({ allowed: false, limit: 100, remaining: 0 });
      expect(admitted(verdicts)).toBe(50);
    }

    await redis.restart();
    await until(() => links.every(({ isUp }) => isUp));
    // The server has lost its data, and what the processes have admitted meanwhile is not moved to it.
    expect(admitted([...(await take(one, 70)), ...(await take(other, 70))])).toBe(100);

    await redis.kill();
    await until(() => links.every(({ isUp }) => !isUp));
    // What a process has admitted in an outage is still owed in the next one.
    expect(admitted(await take(one, 70))).toBe(0);
    await redis.restart();
    await until(() => links.every(({ isUp }) => isUp));
  });

  it('goes on where it was in a Redis that was only silent', async () => {
    const link = await connected(500);
    const limiter = limiterOf(link, { replicas: 5 });
    const key = aKey();
    const policy = { rate: 0.001, burst: 10 };
    expect(await limiter.take(key, policy, 8)).toMatchObject({ allowed: true, remaining: 2 });
    redis.pause();
    // Not by a take: Redis would count it when it goes on.
    await expect(link.run((client) => client.get(key))).rejects.toThrow('no answer');
    expect(limiter.take(key, policy)).toMatchObject({ allowed: true, remaining: 1 });
    redis.resume();
    await until(() => link.isUp);
    expect(await limiter.take(key, policy)).toMatchObject({ allowed: true, remaining: 1 });
  });

  it('gives back to where it counts', async () => {
    const link = await connected();
    await loadGiveBack(link);
    const limiter = limiterOf(link, { replicas: 2 });
    const key = aKey();
    const policy = { rate: 0.001, burst: 10 };
    const left = async (): Promise<number> => {
      const { remaining } = await limiter.take(key, policy);
      limiter.giveBack(key, policy);
      return remaining;
    };
    expect([await left(), await left()]).toEqual([9, 9]);
    await redis.kill();
    await until(() => !link.isUp);
    expect([await left(), await left()]).toEqual([4, 4]);
    await redis.restart();
    await until(() => link.isUp);
    await loadGiveBack(link);
    expect([await left(), await left()]).toEqual([9, 9]);
  });

  it('counts by itself where the answer of Redis is no number', async () => {
    const link = await connected();
    const limiter = limiterOf(link, { replicas: 2 });
    const key = aKey();
    await link.run((client) => client.set(`lowmark:limit:${key}`, 'nan', 'PX', 10_000));
    const verdict = await limiter.take(key, { rate: 0.001, burst: 10 });
    expect(verdict).toMatchObject({ allowed: true, remaining: 4 });
  });
});
