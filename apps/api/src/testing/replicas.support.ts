/**
 * Two replicas of the API that share a database and a Redis. Named so that it counts as a test file, but holds no
 * tests.
 */
import { expect } from '@jest/globals';
import { aWallet } from '#libs/testing/database';
import { startRedis, type TestRedis } from '#libs/testing/redis';
import { type Api, seedIndex, startApi } from './api-harness.support.js';

const PASSWORD = 'a-password-of-redis';

export class Replicas {
  private constructor(
    readonly redis: TestRedis,
    readonly both: readonly [Api, Api],
  ) {}

  /**
   * @param patienceMs long in tests without faults: on a busy machine answers are late, and a replica would go on
   * without Redis
   */
  static async start(patienceMs?: number): Promise<Replicas> {
    const redis = await startRedis(PASSWORD);
    const settings = { REDIS_URL: redis.url, REPLICAS: '2' };
    const first = await startApi(settings, undefined, patienceMs);
    const second = await startApi(settings, first.database, patienceMs);
    await seedIndex(first, {
      events: [1, 2, 3, 4, 5].map((place) => ['2026-11-10T10:00:00Z', aWallet(place), 100 * place]),
    });
    return new Replicas(redis, [first, second]);
  }

  async stop(): Promise<void> {
    for (const replica of this.both.toReversed()) {
      expect(replica.logs.join('')).not.toContain(PASSWORD);
      await replica.stop();
    }
    await this.redis.stop();
  }

  /** Waits until each replica uses Redis, or until none does. */
  async untilUsed(used: boolean): Promise<void> {
    for (const replica of this.both) {
      while ((await redisIsUsed(replica)) !== used) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  }
}

/** Requests a path; by default the snapshots of a wallet that has a history. */
export function get(replica: Api, apiKey: string, path = ''): Promise<Response> {
  const target = path || `/api/staking/snapshots?walletAddress=${aWallet(1)}`;
  return fetch(`${replica.url}${target}`, { headers: { 'x-api-key': apiKey } });
}

/** @param name beginning of the metric's line */
export async function metric(replica: Api, name: string): Promise<number> {
  const text = await (await get(replica, '', '/metrics')).text();
  const line = text.split('\n').find((one) => one.startsWith(name));
  return Number(line?.slice(line.lastIndexOf(' ')));
}

async function redisIsUsed(replica: Api): Promise<boolean> {
  const response = await get(replica, '', '/health/ready');
  expect(response.status).toBe(200);
  const { checks } = (await response.json()) as {
    checks: { redis: { details: { used: boolean } } };
  };
  return checks.redis.details.used;
}
