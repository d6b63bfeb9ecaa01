import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startRedis, type TestRedis } from '#libs/testing/redis';
import { addPartner, type Api, NOON_MS, startApi } from '../testing/api-harness.support.js';
import { ask, ChangingIndex } from './never-stale.support.js';

let redis: TestRedis;
let replicas: Api[];
let apiKey: string;
let index: ChangingIndex;

async function start(settings: (replica: number) => Record<string, string>): Promise<void> {
  const first = await startApi(settings(0));
  replicas = [first, await startApi(settings(1), first.database)];
  ({ apiKey } = await addPartner(first, 'hammer', { rate: 1_000_000, burst: 1_000_000 }));
  index = await ChangingIndex.on(first.database);
}
beforeEach(async () => {
  redis = await startRedis();
});
afterEach(async () => {
  for (const replica of replicas.toReversed()) await replica.stop();
  await redis.stop();
});

/** Asks all replicas without a pause until `changes` is done. */
async function whileAsking(
  changes: Promise<void>,
  check: (replica: Api) => Promise<void>,
): Promise<number> {
  let done = false;
  let asked = 0;
  const asking = [...replicas, ...replicas, ...replicas].map(async (replica) => {
    while (!done) {
      await check(replica);
      asked += 1;
    }
  });
  // A failed check or a failed change ends the test at once.
  const all = Promise.all(asking);
  await Promise.race([changes, all]).finally(() => (done = true));
  await all;
  return asked;
}

const SETTINGS: [string, () => (replica: number) => Record<string, string>][] = [
  ['in process', () => () => ({})],
  ['with Redis', () => () => ({ REDIS_URL: redis.url })],
  [
    'with Redis for one of them',
    () => (replica) => (replica === 0 ? { REDIS_URL: redis.url } : {}),
  ],
];

describe.each(SETTINGS)('%s, no answer is older than its question', (_, settings) => {
  it('while the index is reorganised again and again', async () => {
    await start(settings());
    const changes = async (): Promise<void> => {
      for (let i = 0; i < 40; i += 1) await index.reorganise();
    };
    const asked = await whileAsking(changes(), async (replica) => {
      const before = index.committed;
      const { balance } = await ask(replica, apiKey);
      // Between rollback and re-indexing the wallet has never staked.
      const wasChanging = index.begun > before;
      if (balance === undefined || balance === Infinity) expect(wasChanging).toBe(true);
      else {
        expect(balance).toBeGreaterThanOrEqual(before);
        expect(balance).toBeLessThanOrEqual(index.begun);
      }
    });
    expect(asked).toBeGreaterThan(40);
    for (const replica of replicas)
      expect((await ask(replica, apiKey)).balance).toBe(index.committed);
  });

  it('when a price comes late, and when it is too old', async () => {
    await start(settings());
    for (const replica of replicas) expect((await ask(replica, apiKey)).usd).toBeUndefined();
    const usd = await index.price(NOON_MS);
    for (const replica of replicas) expect((await ask(replica, apiKey)).usd).toBe(usd);
    for (const replica of replicas) {
      replica.clock.advance(7_200_001);
      expect((await ask(replica, apiKey)).usd).toBeUndefined();
    }
  });

  it('when a new day begins, for each replica by its own clock', async () => {
    await start(settings());
    const [ahead, behind] = replicas as [Api, Api];
    expect((await ask(ahead, apiKey)).days).toEqual(['2026-11-19', '2026-11-20']);
    // The index does not reach the new day's window, so the answer is 503 and not yesterday's snapshots.
    ahead.clock.set(Date.parse('2026-11-22T00:00:00.000Z'));
    expect((await ask(ahead, apiKey)).balance).toBe(Infinity);
    expect((await ask(behind, apiKey)).days).toEqual(['2026-11-19', '2026-11-20']);
    ahead.clock.set(NOON_MS);
    expect((await ask(ahead, apiKey, 1)).days).toEqual(['2026-11-20']);
    expect((await ask(ahead, apiKey, 3)).days).toEqual(['2026-11-18', '2026-11-19', '2026-11-20']);
  });
});
