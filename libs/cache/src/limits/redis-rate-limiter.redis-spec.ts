import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { FakeClock, startRedis, type TestRedis } from '#libs/testing';
import { RedisLink } from '../redis/redis-link.js';
import { agreementKeys } from './replica-counter.js';
import { MemoryRateLimiter, type RateVerdict } from './rate-limiter.js';
import { GIVE_BACK, RedisRateLimiter } from './redis-rate-limiter.js';

const { agreed: AGREED_KEY, replicas: REPLICAS_KEY } = agreementKeys();

// A generous deadline for tests of other things, since the machine of a test may be busy.
const PATIENT_MS = 5000;
const POLICY = { rate: 20, burst: 100 };

let redis: TestRedis;
let cleaner: RedisLink;
const links: RedisLink[] = [];

beforeAll(async () => {
  redis = await startRedis();
  cleaner = await connected();
});
beforeEach(async () => {
  await cleaner.whenUp(10_000);
  await cleaner.run((client) => client.del(AGREED_KEY, REPLICAS_KEY));
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

/** A replica that has sent its first heartbeat. */
async function joined(
  link: RedisLink,
  {
    replicas = 1,
    replicasAtMost,
    clock,
  }: { replicas?: number; replicasAtMost?: number; clock?: FakeClock } = {},
): Promise<RedisRateLimiter> {
  const limiter = new RedisRateLimiter({
    link,
    id: `test-${links.indexOf(link)}`,
    countReplicas: () => Promise.resolve(replicas),
    ...(replicasAtMost !== undefined && { replicasAtMost }),
    ...(clock && { nowMs: () => clock.nowMs() }),
  });
  await limiter.beat();
  return limiter;
}

let keys = 0;
const aKey = (): string => `test:${process.pid}:${Date.parse('2026-11-21')}:${keys++}`;

const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
};

describe('RedisRateLimiter', () => {
  it('says at each moment what the one in memory says', async () => {
    const link = await connected();
    // Loads the script first: the first call would send the whole script, and later calls would overtake it.
    await link.run((client) => client.script('LOAD', GIVE_BACK.text));
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
        const shared = await joined(link, { clock });
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
    const replicas = await Promise.all(all.map((link) => joined(link, { clock })));
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
    const [right, off] = [await joined(await connected()), await joined(await connected())];
    const key = aKey();
    const policy = { rate: 0.001, burst: 4 };
    const verdicts: RateVerdict[] = [];
    for (const limiter of [off, right, off, right, off])
      verdicts.push(await limiter.take(key, policy));
    expect(verdicts.map(({ remaining }) => remaining)).toEqual([3, 2, 1, 0, 0]);
    expect(verdicts[4]?.allowed).toBe(false);
  });

  it('admits the share of a replica while Redis is dead, and puts it on the shared account after it', async () => {
    const clock = new FakeClock(1_800_000_000_000);
    // A first replica, which is alone: no caller owes anything, and the replica soon counts as gone.
    await joined(await connected(), { clock });
    const two = [await connected(), await connected()];
    const all = await Promise.all(two.map((link) => joined(link, { replicas: 2, clock })));
    const [one, other] = all as [RedisRateLimiter, RedisRateLimiter];
    // Each beats twice, since at its first beat the first replica does not know of the other one.
    const allBeat = async (): Promise<void> => {
      for (const limiter of [...all, ...all]) await limiter.beat();
    };
    // A new replica admits no burst by itself.
    clock.advance(4000);
    await allBeat();
    const [key, another] = [aKey(), aKey()];
    const policy = { rate: 0.001, burst: 100 };
    for (let i = 0; i < 90; i += 1) await one.take(key, policy);
    await redis.kill();
    await until(() => two.every(({ isUp }) => !isUp));
    const burst = (limiter: RedisRateLimiter, ofKey: string): RateVerdict[] =>
      Array.from({ length: 70 }, () => limiter.take(ofKey, policy) as RateVerdict);
    const local = burst(one, key);
    expect(local.filter(({ allowed }) => allowed)).toHaveLength(5);
    expect(local[0]).toMatchObject({ limit: 100, remaining: 4 });
    expect(local.at(-1)).toMatchObject({ allowed: false, limit: 100, remaining: 0 });
    expect(burst(other, another).filter(({ allowed }) => allowed)).toHaveLength(50);
    await redis.restart();
    await until(() => two.every(({ isUp }) => isUp));
    await allBeat();
    // The server has lost all data, so every caller counts as owing a whole burst, even callers who owe nothing.
    for (const name of [key, another, aKey()]) {
      expect(await one.take(name, policy)).toMatchObject({ allowed: false, remaining: 0 });
    }
    // The burst drains in its usual time, and requests admitted meanwhile are owed once.
    clock.advance(100_000_000 - 2000);
    await allBeat();
    expect(await other.take(aKey(), policy)).toMatchObject({ allowed: true });
    expect(await other.take(key, policy)).toMatchObject({ allowed: true, remaining: 93 });
    expect(await other.take(another, policy)).toMatchObject({ allowed: true, remaining: 48 });
  });

  it('admits all with Redis, and the part of one of the most that may live without, where none are counted', async () => {
    const clock = new FakeClock(1_800_000_000_000);
    const link = await connected();
    const limiter = await joined(link, { replicas: 0, replicasAtMost: 10, clock });
    const policy = { rate: 0.001, burst: 100 };
    const admitted = async (key: string): Promise<number> => {
      let count = 0;
      for (let i = 0; i < 150; i += 1) if ((await limiter.take(key, policy)).allowed) count += 1;
      return count;
    };
    // The replica does not know what an empty Redis has lost, so every caller counts as owing a whole burst.
    expect(await admitted(aKey())).toBe(0);
    clock.advance(100_000_000);
    await limiter.beat();
    expect(await admitted(aKey())).toBe(100);
    await redis.kill();
    await until(() => !link.isUp);
    await limiter.beat();
    expect(await admitted(aKey())).toBe(10);
    await redis.restart();
    await until(() => link.isUp);
  });

  it('counts nothing in a Redis that has forgotten who is here, until that is agreed on anew', async () => {
    const link = await connected();
    const limiter = await joined(link);
    const key = aKey();
    const policy = { rate: 0.001, burst: 10 };
    expect((await limiter.take(key, policy)).remaining).toBe(9);
    await link.run((redis) => redis.del(AGREED_KEY));
    expect((await limiter.take(key, policy)).allowed).toBe(true);
    expect(await link.run((redis) => redis.exists(AGREED_KEY))).toBe(0);
    await limiter.beat();
    expect(await limiter.take(key, policy)).toMatchObject({ allowed: false, remaining: 0 });
  });

  it('loses no burst where all replicas are as new as the Redis', async () => {
    const clock = new FakeClock(1_800_000_000_000);
    const one = await joined(await connected(), { replicas: 2, clock });
    const other = await joined(await connected(), { replicas: 2, clock });
    await one.beat();
    const key = aKey();
    expect(await other.take(key, POLICY)).toMatchObject({ allowed: true, remaining: 99 });
    expect(await one.take(key, POLICY)).toMatchObject({ allowed: true, remaining: 98 });
  });

  it('takes an empty Redis for a loss where not all who live can say that they are new', async () => {
    const clock = new FakeClock(1_800_000_000_000);
    const limiter = await joined(await connected(), { replicas: 2, clock });
    clock.advance(2000);
    await limiter.beat();
    expect(await limiter.take(aKey(), POLICY)).toMatchObject({ allowed: false, remaining: 0 });
  });

  it('leaves those who cannot reach Redis their part', async () => {
    await joined(await connected());
    const limiter = await joined(await connected(), { replicas: 3 });
    const key = aKey();
    const policy = { rate: 0.001, burst: 10 };
    expect((await limiter.take(key, policy)).remaining).toBe(5);
  });

  it('needs no right to ask the server about itself', async () => {
    const link = await connected();
    await cleaner.run((client) => client.acl('SETUSER', 'default', '-info'));
    try {
      const limiter = await joined(link);
      expect(await limiter.take(aKey(), POLICY)).toMatchObject({ allowed: true, remaining: 99 });
      expect(link.isUp).toBe(true);
    } finally {
      await cleaner.run((client) => client.acl('SETUSER', 'default', '+info'));
    }
  });
});
