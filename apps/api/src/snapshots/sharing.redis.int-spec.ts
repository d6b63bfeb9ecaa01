/** Two replicas of the API that share a Redis, also one whose content another writer changes. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { IndexStore } from '#libs/db';
import { mintCredential } from '#libs/signing';
import { aBlock, aWallet } from '#libs/testing/database';
import { addPartner, type Api } from '../testing/api-harness.support.js';
import { get, metric, Replicas } from '../testing/replicas.support.js';

const PATIENT_MS = 10_000;
const DAY_MS = 86_400_000;

let replicas: Replicas;
let first: Api;
let second: Api;
let client: Redis;

beforeAll(async () => {
  replicas = await Replicas.start(PATIENT_MS);
  [first, second] = replicas.both;
  client = new Redis(replicas.redis.url);
});
afterAll(async () => {
  client.disconnect();
  await replicas.stop();
});
/** On a busy machine a replica may go on without Redis for a while. */
beforeEach(() => replicas.untilUsed(true));

const pathOf = (wallet: number): string =>
  `/api/staking/snapshots?walletAddress=${aWallet(wallet)}`;

/** An answer without its time. */
async function answerOf(replica: Api, apiKey: string, wallet: number): Promise<object> {
  const response = await get(replica, apiKey, pathOf(wallet));
  expect(response.status).toBe(200);
  const { requestedAt, ...rest } = (await response.json()) as { requestedAt: string };
  expect(requestedAt).toBe(new Date(replica.clock.nowMs()).toISOString());
  return rest;
}

/** A partner, after both replicas have seen a state of the index: without one they know no version to look under. */
async function aReader(name: string): Promise<string> {
  const { apiKey } = await addPartner(first, name);
  for (const replica of replicas.both) await get(replica, apiKey, pathOf(99));
  return apiKey;
}

const partsOf = (wallet: string): Promise<string[]> => client.keys(`lowmark:part:${wallet}:*`);
const partOf = async (wallet: number): Promise<string> => (await partsOf(aWallet(wallet)))[0] ?? '';

/** Number of reads of wallet parts in Redis. */
async function readsOfParts(): Promise<number> {
  const stats = await client.info('commandstats');
  return Number(/^cmdstat_mget:calls=(\d+)/m.exec(stats)?.[1] ?? 0);
}

describe('a batch', () => {
  /** One request for `count` wallets. */
  const batch = (replica: Api, apiKey: string, count: number): Promise<Response> =>
    fetch(`${replica.url}/api/staking/snapshots/batch`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({
        walletAddresses: Array.from({ length: count }, (_, place) => aWallet(1 + place)),
      }),
    });

  it('weighs on the limit that both replicas share as what it holds', async () => {
    const { apiKey } = await addPartner(first, 'batches', { rate: 1, burst: 1000 });
    expect((await batch(first, apiKey, 600)).status).toBe(200);
    // The bucket refills by 100 in 100 seconds.
    expect((await batch(second, apiKey, 500)).status).toBe(429);
    expect((await batch(second, apiKey, 350)).status).toBe(200);
    expect((await batch(first, apiKey, 200)).status).toBe(429);
    const { headers } = await get(first, apiKey);
    expect(Number(headers.get('x-ratelimit-remaining'))).toBeLessThan(150);
    for (const replica of replicas.both) {
      expect(await metric(replica, 'lowmark_rate_limited_total{limit="partner"')).toBe(1);
    }
  });

  it('neither looks in Redis nor leaves anything there', async () => {
    const { apiKey } = await addPartner(first, 'quiet');
    expect((await batch(first, apiKey, 2)).status).toBe(200);
    const [before, kept] = [await readsOfParts(), await partsOf('*')];
    for (const replica of replicas.both) {
      expect((await batch(replica, apiKey, 50)).status).toBe(200);
    }
    expect(await readsOfParts()).toBe(before);
    expect((await partsOf('*')).sort()).toEqual(kept.sort());
  });
});

describe('what is kept of a wallet', () => {
  const looks = (layer: string, result: string): Promise<number> =>
    metric(second, `lowmark_cache_requests_total{layer="${layer}",result="${result}"`);

  it('is not looked for in Redis before the caller is known', async () => {
    const apiKey = await aReader('known');
    const before = await readsOfParts();
    for (let wallet = 2002; wallet < 2022; wallet++) {
      for (const key of ['any text', mintCredential().apiKey]) {
        expect((await get(first, key, pathOf(wallet))).status).toBe(401);
      }
    }
    expect(await readsOfParts()).toBe(before);
    expect((await get(first, apiKey, pathOf(2002))).status).toBe(404);
    expect(await readsOfParts()).toBe(before + 1);
  });

  it('is used by the other replica', async () => {
    const apiKey = await aReader('sharing');
    const answer = await answerOf(first, apiKey, 2);
    const before = await looks('redis', 'hit');
    for (let times = 0; times < 2; times++) {
      expect(await answerOf(second, apiKey, 2)).toEqual(answer);
      expect(await looks('redis', 'hit')).toBe(before + 1);
    }
  });

  it('costs one read of the wallet, however many ask for it', async () => {
    const apiKey = await aReader('herd');
    const before = await looks('process', 'miss');
    const asked = Array.from({ length: 100 }, () => get(second, apiKey, pathOf(3)));
    expect((await Promise.all(asked)).every(({ status }) => status === 200)).toBe(true);
    expect(await looks('process', 'miss')).toBe(before + 1);
  });

  it('is taken for nothing where it is rubbish', async () => {
    const apiKey = await aReader('rubbish');
    const answer = await answerOf(first, apiKey, 4);
    const before = await looks('redis', 'hit');
    await client.set(await partOf(4), '[[20000,"-1","x"]]');
    expect(await answerOf(second, apiKey, 4)).toEqual(answer);
    expect(await looks('redis', 'hit')).toBe(before);
  });

  /** Advances the clocks and the index by one day. */
  async function nextDay(): Promise<void> {
    for (const { clock } of replicas.both) clock.advance(DAY_MS);
    const index = new IndexStore(await first.database.open());
    const { head: previousHead } = (await index.state()) ?? {};
    if (previousHead === undefined) throw new Error('there is no index');
    const { number, timestampSeconds } = previousHead;
    const head = aBlock(Number(number) + 7200, timestampSeconds + DAY_MS / 1000);
    const fence = await index.takeLead();
    await index.commit({ fence, previousHead, head, blocks: [head], synced: true });
  }

  it('and is well formed and false is served by replicas that have not read it, until the day is over', async () => {
    const apiKey = await aReader('deceived');
    const [right, other] = [await answerOf(first, apiKey, 5), await answerOf(first, apiKey, 1)];
    await client.set(await partOf(5), (await client.get(await partOf(1))) ?? '');
    const wrong = await answerOf(second, apiKey, 5);
    expect(wrong).toEqual({ ...other, walletAddress: aWallet(5) });
    expect(wrong).not.toEqual(right);
    expect(await answerOf(first, apiKey, 5)).toEqual(right);

    // A part belongs to one day. On the next day no replica looks it up.
    await nextDay();
    const [one, two] = await Promise.all(replicas.both.map((each) => answerOf(each, apiKey, 5)));
    expect(two).toEqual(one);
    expect(two).toMatchObject({ averageStakedAmount: 500 });
  });
});

it('a limit that is forgotten again and again lets a partner ask without end, and no one in without a credential', async () => {
  const { apiKey } = await addPartner(first, 'greedy', { rate: 1, burst: 5 });
  await get(first, apiKey);
  const statuses = async (key: string, forget: boolean): Promise<number[]> => {
    const seen: number[] = [];
    for (let asked = 0; asked < 40; asked++) {
      const keys = forget ? await client.keys('lowmark:limit:*') : [];
      if (keys.length > 0) await client.del(keys);
      seen.push((await get(first, key)).status);
    }
    return seen;
  };
  const limited = await statuses(apiKey, false);
  expect(limited.filter((status) => status === 429).length).toBeGreaterThan(10);
  expect(new Set(await statuses(apiKey, true))).toEqual(new Set([200]));
  expect(new Set(await statuses('', true))).toEqual(new Set([401]));
});
