/** A Redis that loses every limit of the redemption service: the budgets are kept elsewhere. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { startRedis, type TestRedis } from '#libs/testing/redis';
import {
  addPartner,
  addPrice,
  aPlayer,
  type Service,
  startService,
} from '../../src/testing/redemption-harness.support.js';
import { settledAsClaimed, takeAll, tokens } from './bounds.support.js';

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
