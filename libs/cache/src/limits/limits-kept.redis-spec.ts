import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { startRedis, type TestRedis } from '#libs/testing';
import { RedisLink } from '../redis/redis-link.js';
import { agreementKeys } from './replica-counter.js';
import { Deployment } from './limits-kept.support-spec.js';
import { LEASE_MS } from './local-share.js';
import { type RatePolicy } from './rate-limiter.js';

const { agreed: AGREED_KEY, replicas: REPLICAS_KEY } = agreementKeys();

const MAX_REPLICAS = 5;

let redis: TestRedis;
let link: RedisLink;

beforeAll(async () => {
  redis = await startRedis();
  // The tests use a clock of their own, and the deadline is generous since the machine may be busy.
  link = new RedisLink({ url: redis.url, deadlineMs: 10_000 });
  expect(await link.whenUp(10_000)).toBe(true);
});
afterAll(async () => {
  link.close();
  await redis.stop();
});

let deployments = 0;

async function deploy(
  policy: RatePolicy,
  replicas: number,
  { counts = true } = {},
): Promise<Deployment> {
  await link.run((client) => client.del(AGREED_KEY, REPLICAS_KEY));
  const deployment = new Deployment(link, `kept:${process.pid}:${deployments++}`, policy);
  deployment.counts = counts;
  for (let i = 0; i < replicas; i += 1) await deployment.start();
  return deployment;
}

interface Step {
  readonly name: string;
  readonly run: (deployment: Deployment) => Promise<void> | void;
}

/** More requests than any burst. */
const ALL = 40;

const place = fc.nat({ max: MAX_REPLICAS - 1 });
const times = fc.oneof(fc.constant(ALL), fc.integer({ min: 1, max: ALL }));
const step = (name: string, run: Step['run']): Step => ({ name, run });
const always = (name: string, run: Step['run']): fc.Arbitrary<Step> => fc.constant(step(name, run));

async function takeAtEach(deployment: Deployment, count: number): Promise<void> {
  for (let at = 0; at < deployment.replicas.length; at += 1) await deployment.take(at, count);
}

const taking = fc.oneof(
  fc.tuple(place, times).map(([at, count]) =>
    step(`${count} at ${at}`, async (one) => {
      await one.take(at, count);
    }),
  ),
  fc.tuple(place, times).map(([at, count]) =>
    step(`a batch of ${count} at ${at}`, async (one) => {
      await one.takeBatch(at, count);
    }),
  ),
  times.map((count) => step(`${count} at each`, (one) => takeAtEach(one, count))),
);

/** Times in which debts drain in part or as a whole, in Redis or in a replica. */
const waiting = fc.oneof(
  fc.integer({ min: 1, max: 1500 }).map((ms) => step(`${ms} ms`, (one) => one.pass(ms))),
  fc
    .constantFrom(0.25, 0.5, 1, 1, 2)
    .map((bursts) => step(`${bursts} bursts`, (one) => one.pass(bursts * one.burstMs))),
  always('the hold', (one) => one.pass(LEASE_MS + one.burstMs)),
);

const failing = fc.oneof(
  always('cut all', (one) => {
    one.cut();
  }),
  always('mend all', (one) => {
    one.mend();
  }),
  always('mend all', (one) => {
    one.mend();
  }),
  always('restart', (one) => one.restart({ empty: false })),
  always('restart empty', (one) => one.restart({ empty: true })),
  place.map((at) =>
    step(`cut ${at}`, (one) => {
      one.cut(at);
    }),
  ),
  place.map((at) =>
    step(`mend ${at}`, (one) => {
      one.mend(at);
    }),
  ),
);

const changing = fc.oneof(
  always('start', async (one) => {
    if (one.replicas.length < MAX_REPLICAS) await one.start();
  }),
  place.map((at) =>
    step(`die ${at}`, (one) => {
      one.die(at);
    }),
  ),
);

const stepsOf = (weights: { changing: number }): fc.Arbitrary<Step[]> =>
  fc.array(
    fc.oneof(
      { weight: 8, arbitrary: taking },
      { weight: 5, arbitrary: waiting },
      { weight: 6, arbitrary: failing },
      { weight: weights.changing, arbitrary: changing },
    ),
    { minLength: 10, maxLength: 60, size: 'max' },
  );

const policies = fc.record({
  rate: fc.integer({ min: 5, max: 50 }),
  burst: fc.integer({ min: MAX_REPLICAS, max: ALL }),
});

describe('the limit of a caller', () => {
  it('is exceeded by one burst at most, whatever becomes of Redis and of replicas', async () => {
    let most = 0;
    await fc.assert(
      fc.asyncProperty(
        policies,
        fc.integer({ min: 1, max: MAX_REPLICAS }),
        stepsOf({ changing: 1 }),
        async (policy, replicas, all) => {
          const deployment = await deploy(policy, replicas);
          for (const { run } of all) {
            await run(deployment);
            // Over any time up to now: admitted <= burst + rate x time + one burst.
            const { owedMs, burstMs, allowanceMs } = deployment;
            expect(owedMs).toBeLessThanOrEqual(2 * burstMs + allowanceMs + 0.1);
            most = Math.max(most, owedMs / burstMs);
          }
        },
      ),
      { numRuns: 100 },
    );
    // The limiter does not keep the bound by refusing all requests.
    expect(most).toBeGreaterThan(1.2);
  });

  it('is not exceeded at all by a replica that is and was the only one', async () => {
    await fc.assert(
      fc.asyncProperty(policies, stepsOf({ changing: 0 }), async (policy, all) => {
        const deployment = await deploy(policy, 1);
        for (const { run } of all) {
          await run(deployment);
          expect(deployment.owedMs).toBeLessThanOrEqual(deployment.burstMs + 0.1);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('is kept where replicas cannot be counted, by those that have met in Redis', async () => {
    const deployment = await deploy({ rate: 20, burst: 100 }, 3, { counts: false });
    await deployment.pass(10_000);
    for (let outage = 0; outage < 3; outage += 1) {
      deployment.cut();
      for (let half = 0; half < 60; half += 1) {
        await takeAtEach(deployment, 100);
        await deployment.pass(500);
        expect(deployment.owedMs).toBeLessThanOrEqual(2 * deployment.burstMs + 0.1);
      }
      // One after the other, and no more than one before Redis is gone again.
      deployment.mend(outage);
      await deployment.pass(5000);
    }
  });

  it('refuses nobody who keeps within it, while the only replica cannot reach Redis', async () => {
    for (const [policy, perHalf] of [
      [{ rate: 20, burst: 100 }, 9],
      [{ rate: 50, burst: 15 }, 15],
    ] as const) {
      const deployment = await deploy(policy, 1);
      await deployment.pass(10_000);
      for (let half = 0; half < 240; half += 1) {
        if (half % 60 === 20) deployment.cut();
        if (half % 60 === 50) deployment.mend();
        expect(await deployment.take(0, perHalf)).toBe(perHalf);
        await deployment.pass(500);
      }
    }
  });

  it.each([
    ['one', 0],
    ['the other', 1],
    ['both', undefined],
  ])('is kept, and can be had, while %s of two cannot reach Redis for a minute', async (_, cut) => {
    const policy = { rate: 20, burst: 100 };
    const deployment = await deploy(policy, 2);
    await deployment.pass(3000);
    const admitted = async (seconds: number): Promise<number> => {
      let sum = 0;
      for (let half = 0; half < 2 * seconds; half += 1) {
        for (const at of [0, 1]) sum += await deployment.take(at, policy.burst);
        await deployment.pass(500);
        expect(deployment.owedMs).toBeLessThanOrEqual(2 * deployment.burstMs + 0.1);
      }
      return sum;
    };
    await admitted(5);
    deployment.cut(cut);
    const meanwhile = await admitted(60);
    // For some seconds a replica has only its part of a burst. Its part of the rate comes after that.
    expect(meanwhile).toBeGreaterThan(policy.rate * 50);
    deployment.mend(cut);
    // Without the debt that was moved to the account in Redis.
    expect(await admitted(10)).toBeGreaterThanOrEqual(policy.rate * 10 - policy.burst / 2);
  });
});
