import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { systemClock } from '#libs/platform';
import { createLogger } from '#libs/service';
import { startRedis, type TestRedis } from '#libs/testing';
import { createSharing, type Sharing } from './index.js';

let redis: TestRedis;
let sharing: Sharing | undefined;

beforeEach(async () => {
  redis = await startRedis();
});
afterEach(async () => {
  sharing?.redis?.close();
  await redis.stop();
});

it('tells once that replicas cannot be counted, and goes on', async () => {
  const logs: string[] = [];
  let counts = 0;
  sharing = await createSharing(redis.url, {
    clock: systemClock,
    logger: createLogger({
      app: 'api',
      level: 'info',
      destination: { write: (line: string) => void logs.push(line) },
    }),
    id: 'one',
    countReplicas: () => {
      counts += 1;
      return Promise.resolve(0);
    },
  });
  while (counts < 3) await new Promise((resolve) => setTimeout(resolve, 20));
  expect(logs.filter((line) => line.includes('cannot be counted'))).toHaveLength(1);
  expect(await sharing.limiter.take('a', { rate: 20, burst: 100 })).toMatchObject({ limit: 100 });
});
