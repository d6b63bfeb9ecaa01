/** Two instances of the service that share a real Redis. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { startRedis, type TestRedis } from '#libs/testing/redis';
import {
  aUser,
  type Replica,
  type Service,
  startService,
  addPartner,
  addPrice,
  aPlayer,
} from '../testing/redemption-harness.support.js';
import { Redis } from 'ioredis';
import { settledAsClaimed, takeAll, tokens } from '../../test/bounds/bounds.support.js';

let redis: TestRedis;
let service: Service;
let other: Replica;

beforeAll(async () => {
  redis = await startRedis();
  service = await startService({ REDIS_URL: redis.url, REPLICAS: '2' });
  other = await service.replica();
  await untilShared(true);
});
afterAll(async () => {
  await other.app.close();
  await service.stop();
  await redis.stop();
});

/** Whether both instances report in their metrics that limits are shared. */
async function shared(): Promise<boolean> {
  const texts = await Promise.all(
    [service, other].map(async ({ url }) => (await request(url).get('/metrics')).text),
  );
  return texts.every((text) => /^lowmark_redis_up\{app="redemption"\} 1$/m.test(text));
}

async function untilShared(wanted: boolean): Promise<void> {
  while ((await shared()) !== wanted) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** Sends `count` requests to the instances in turn. @returns how many were admitted, and the seconds that they took */
async function admitted(
  count: number,
  ask: (url: string) => Promise<{ status: number }>,
): Promise<{ admitted: number; seconds: number }> {
  const startMs = performance.now();
  let through = 0;
  for (let asked = 0; asked < count; asked++) {
    const { status } = await ask(asked % 2 === 0 ? service.url : other.url);
    if (status !== 429) {
      expect(status).toBe(200);
      through++;
    }
  }
  return { admitted: through, seconds: (performance.now() - startMs) / 1000 };
}

describe('two instances', () => {
  it('let one address sign in as often as one would', async () => {
    const nonce = (url: string) =>
      request(url).post('/api/auth/nonce').set('x-forwarded-for', '2001:db8:1:2::1');
    const { admitted: through, seconds } = await admitted(40, nonce);
    expect(through).toBeGreaterThanOrEqual(10);
    expect(through).toBeLessThanOrEqual(10 + Math.ceil(seconds));
  });

  it('let one wallet ask as often as one would, and another one as well', async () => {
    const [user, stranger] = [await aUser(service), await aUser(service)];
    const list =
      ({ token }: { token: string }) =>
      (url: string) =>
        request(url).get('/api/partners').set('authorization', `Bearer ${token}`);
    const { admitted: through, seconds } = await admitted(60, list(user));
    expect(through).toBeGreaterThanOrEqual(20);
    expect(through).toBeLessThanOrEqual(20 + Math.ceil(5 * seconds));
    expect((await admitted(10, list(stranger))).admitted).toBe(10);
  });

  it('go on by themselves while Redis is away, each with its part', async () => {
    await redis.kill();
    await untilShared(false);
    const nonce = (url: string) =>
      request(url).post('/api/auth/nonce').set('x-forwarded-for', '198.51.100.7');
    const { admitted: through, seconds } = await admitted(40, nonce);
    expect(through).toBeLessThanOrEqual(10 + Math.ceil(seconds));
    await redis.restart();
    await untilShared(true);
  });
});

describe('a Redis that loses every limit', () => {
  const BUDGET = 1000;
  const POINTS = 5000;

  let redis: TestRedis;
  let client: Redis;
  let service: Service;
  beforeAll(async () => {
    redis = await startRedis();
    client = new Redis(redis.url);
    service = await startService({
      REDIS_URL: redis.url,
      WALLET_DAILY_TOKEN_BUDGET: String(BUDGET),
    });
    await addPartner(service, 'Arena');
    await addPrice(service);
  });
  afterAll(async () => {
    client.disconnect();
    await service.stop();
    await redis.stop();
  });

  it('lets a wallet ask without end, and have no token beyond its day', async () => {
    const user = await aPlayer(service, 100 * POINTS);
    const forget = async () => {
      const keys = await client.keys('*:limit:*');
      if (keys.length > 0) await client.del(keys);
    };
    const statuses = new Set<number>();
    for (let asked = 0; asked < 60; asked++) {
      await forget();
      statuses.add((await user.get('/api/partners')).status);
    }
    expect([...statuses]).toEqual([200]);
    const settle = settledAsClaimed(service);
    const settled = async (taken: Parameters<typeof settle>[0]) => {
      await forget();
      await settle(taken);
    };
    expect(await takeAll(service, user, { points: POINTS, settled })).toBe('WALLET_BUDGET_SPENT');
    expect(await service.bench.tokens(user.wallet)).toBeLessThanOrEqual(tokens(BUDGET));
  });
});
