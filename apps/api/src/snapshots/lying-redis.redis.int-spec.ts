/** A manipulated Redis: well-formed but wrong parts of answers, and lost rate limits. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { IndexStore } from '#libs/db';
import { aBlock, aWallet } from '#libs/testing/database';
import { startRedis, type TestRedis } from '#libs/testing/redis';
import { addPartner, type Api, seedIndex, startApi } from '../testing/api-harness.support.js';

/**
 * Redis deadline in milliseconds, long enough for a busy machine: a replica goes on without Redis when answers are
 * late.
 */
const PATIENT_MS = 10_000;
const DAY_MS = 86_400_000;
const [SMALL, LARGE] = [aWallet(1), aWallet(2)];

let redis: TestRedis;
let client: Redis;
let replicas: [Api, Api];

beforeAll(async () => {
  redis = await startRedis();
  client = new Redis(redis.url);
  const settings = { REDIS_URL: redis.url };
  const first = await startApi(settings, undefined, PATIENT_MS);
  replicas = [first, await startApi(settings, first.database, PATIENT_MS)];
  await seedIndex(first, {
    events: [
      ['2026-11-10T10:00:00Z', SMALL, 100],
      ['2026-11-10T10:00:00Z', LARGE, 999_999],
    ],
    headAt: '2026-11-21T12:00:00Z',
  });
});
afterAll(async () => {
  client.disconnect();
  for (const replica of replicas.toReversed()) await replica.stop();
  await redis.stop();
});

async function answerOf(replica: Api, apiKey: string, wallet = SMALL): Promise<string> {
  const url = `${replica.url}/api/staking/snapshots?walletAddress=${wallet}`;
  const response = await fetch(url, { headers: { 'x-api-key': apiKey } });
  expect(response.status).toBe(200);
  const { requestedAt, ...rest } = (await response.json()) as { requestedAt: string };
  expect(requestedAt).toBe(new Date(replica.clock.nowMs()).toISOString());
  return JSON.stringify(rest);
}

const keyOf = async (wallet: string): Promise<string> =>
  (await client.keys(`lowmark:part:${wallet}:*`))[0] ?? '';

/** Advances the clocks and the index by one day. */
async function nextDay(): Promise<void> {
  for (const { clock } of replicas) clock.advance(DAY_MS);
  const index = new IndexStore(await replicas[0].database.open());
  const { head } = (await index.state()) ?? {};
  if (head === undefined) throw new Error('there is no index');
  const next = aBlock(Number(head.number) + 7200, head.timestampSeconds + DAY_MS / 1000);
  await index.commit({
    fence: await index.takeLead(),
    previousHead: head,
    head: next,
    blocks: [next],
    synced: true,
  });
}

async function rowsOfIndex(): Promise<unknown> {
  const database = await replicas[0].database.open();
  return database.query({ text: 'SELECT * FROM staking.balance_day ORDER BY wallet, day' });
}

describe('a part of a snapshot that is well formed and false', () => {
  it('is served for its wallet by replicas that have not read it, until the day of the snapshot is over', async () => {
    const { apiKey } = await addPartner(replicas[0], 'reader');
    const rows = await rowsOfIndex();
    // This read gives the second replica an index version to look under.
    await answerOf(replicas[1], apiKey, LARGE);
    const right = await answerOf(replicas[0], apiKey);
    const lie = (await client.get(await keyOf(LARGE))) ?? '';
    expect(lie).toContain('999999');
    await client.set(await keyOf(SMALL), lie);

    const wrong = await answerOf(replicas[1], apiKey);
    expect(wrong).not.toBe(right);
    expect(wrong).toContain('999999');
    expect(await answerOf(replicas[0], apiKey)).toBe(right);
    expect(await rowsOfIndex()).toEqual(rows);

    // A part belongs to one day. On the next day no replica looks it up.
    await nextDay();
    const [first, second] = await Promise.all(replicas.map((one) => answerOf(one, apiKey)));
    expect(second).toBe(first);
    expect(second).not.toContain('999999');
  });
});

describe('a limit that is forgotten again and again', () => {
  it('lets a partner’s credential ask without end, and no one in without a credential', async () => {
    const { apiKey } = await addPartner(replicas[0], 'greedy', { rate: 1, burst: 5 });
    await answerOf(replicas[0], apiKey);
    const url = `${replicas[0].url}/api/staking/snapshots?walletAddress=${SMALL}`;
    const statuses = async (headers: Record<string, string>, forget: boolean) => {
      const seen = new Map<number, number>();
      for (let asked = 0; asked < 40; asked++) {
        if (forget) {
          const keys = await client.keys('lowmark:limit:*');
          if (keys.length > 0) await client.del(keys);
        }
        const { status } = await fetch(url, { headers });
        seen.set(status, (seen.get(status) ?? 0) + 1);
      }
      return seen;
    };
    expect((await statuses({ 'x-api-key': apiKey }, false)).get(429)).toBeGreaterThan(10);
    expect([...(await statuses({ 'x-api-key': apiKey }, true)).keys()]).toEqual([200]);
    expect([...(await statuses({}, true)).keys()]).toEqual([401]);
  });
});
