import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '#libs/testing/clock';
import { addPartner, type Api } from '../testing/api-harness.support.js';
import { get, metric, Replicas } from '../testing/replicas.support.js';

let replicas: Replicas;

beforeEach(async () => {
  replicas = await Replicas.start();
});
afterEach(() => replicas.stop());

/**
 * Sends parallel requests to both replicas for a time, in which their clocks go; returns the number of requests, of
 * those admitted, and all statuses.
 */
async function hammer(
  apiKey: string,
  ms: number,
): Promise<{ asked: number; admitted: number; seconds: number; statuses: Set<number> }> {
  const startMs = performance.now();
  const statuses = new Set<number>();
  let asked = 0;
  let admitted = 0;
  const one = async (replica: Api): Promise<void> => {
    while (performance.now() - startMs < ms) {
      const { status } = await get(replica, apiKey);
      asked += 1;
      statuses.add(status);
      if (status === 200) admitted += 1;
    }
  };
  const { both } = replicas;
  const firstMs = both[0].clock.nowMs();
  const ticking = setInterval(() => {
    for (const { clock } of both) clock.set(firstMs + Math.round(performance.now() - startMs));
  }, 10);
  await Promise.all([...both, ...both, ...both, ...both].map(one));
  clearInterval(ticking);
  return { asked, admitted, seconds: (performance.now() - startMs) / 1000, statuses };
}

/** Number of times that a replica began or stopped using Redis. */
const switchesOf = (both: readonly Api[]): number =>
  both.flatMap(({ logs }) => logs).filter((line) => line.includes('Redis is')).length;

describe('replicas whose Redis fails', () => {
  it('answer through death, silence and return of Redis, without a 5xx and within two bursts of the limit', async () => {
    const policy = { rate: 50, burst: 100 };
    const { redis, both } = replicas;
    const [first] = both;
    const faults = {
      death: [() => redis.kill(), () => redis.restart()],
      silence: [
        () => {
          redis.pause();
        },
        () => {
          redis.resume();
        },
      ],
    } as const;
    for (const [name, [hurt, heal]] of Object.entries(faults)) {
      const { apiKey } = await addPartner(first, name, policy);
      await replicas.untilUsed(true);
      const before = switchesOf(both);
      const load = hammer(apiKey, 10_000);
      await new Promise((resolve) => setTimeout(resolve, 500));
      await hurt();
      await replicas.untilUsed(false);
      await new Promise((resolve) => setTimeout(resolve, 7000));
      await heal();
      await replicas.untilUsed(true);
      const { asked, admitted, seconds, statuses } = await load;
      expect([...statuses].sort()).toEqual([200, 429]);
      const allowed = policy.burst + policy.rate * seconds;
      // One burst more when Redis goes out for both replicas, and one more when it is back. On a busy machine it also is
      // out while an answer is late.
      const switches = switchesOf(both) - before;
      expect(switches).toBeGreaterThanOrEqual(4);
      expect(admitted).toBeLessThanOrEqual(allowed + (switches / 2) * policy.burst);
      // A machine that is slow asks for less than the limit.
      expect(admitted).toBeGreaterThan(Math.min(allowed, asked) / 2);
      await eventually(async () => (await metric(first, 'lowmark_redis_up')) === 1);
    }
  });
});
