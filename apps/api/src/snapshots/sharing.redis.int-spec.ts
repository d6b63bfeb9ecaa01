import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { mintCredential } from '#libs/signing';
import { aWallet } from '#libs/testing/database';
import { addPartner, type Api } from '../testing/api-harness.support.js';
import { get, metric, Replicas } from '../testing/replicas.support.js';

const PATIENT_MS = 10_000;

let replicas: Replicas;
let first: Api;
let second: Api;

beforeAll(async () => {
  replicas = await Replicas.start(PATIENT_MS);
  [first, second] = replicas.both;
});
afterAll(() => replicas.stop());
/** On a busy machine a replica may go on without Redis for a while. */
beforeEach(() => replicas.untilUsed(true));

/** Number of reads of wallet parts in Redis. */
async function readsOfParts(): Promise<number> {
  const client = new Redis(replicas.redis.url);
  const stats = await client.info('commandstats');
  client.disconnect();
  return Number(/^cmdstat_mget:calls=(\d+)/m.exec(stats)?.[1] ?? 0);
}

async function keptParts(): Promise<string[]> {
  const client = new Redis(replicas.redis.url);
  const keys = await client.keys('lowmark:part:*');
  client.disconnect();
  return keys.sort();
}

/** One request for `count` wallets. */
async function batch(replica: Api, apiKey: string, count: number): Promise<Response> {
  const walletAddresses = Array.from({ length: count }, (_, place) => aWallet(1 + place));
  return fetch(`${replica.url}/api/staking/snapshots/batch`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ walletAddresses }),
  });
}

describe('a batch', () => {
  it('weighs on the limit that both replicas share as what it holds', async () => {
    const policy = { rate: 1, burst: 1000 };
    const { apiKey } = await addPartner(first, 'batches', policy);
    expect((await batch(first, apiKey, 600)).status).toBe(200);
    // The bucket refills by 100 in 100 seconds.
    expect((await batch(second, apiKey, 500)).status).toBe(429);
    expect((await batch(second, apiKey, 350)).status).toBe(200);
    expect((await batch(first, apiKey, 200)).status).toBe(429);
    const { headers } = await get(first, apiKey);
    expect(Number(headers.get('x-ratelimit-remaining'))).toBeLessThan(150);
  });

  it('neither looks in Redis nor leaves anything there', async () => {
    const { apiKey } = await addPartner(first, 'quiet');
    expect((await batch(first, apiKey, 2)).status).toBe(200);
    const [before, kept] = [await readsOfParts(), await keptParts()];
    for (const replica of replicas.both)
      expect((await batch(replica, apiKey, 50)).status).toBe(200);
    expect(await readsOfParts()).toBe(before);
    expect(await keptParts()).toEqual(kept);
  });
});

describe('what is kept of a wallet', () => {
  it('is not looked for in Redis before the caller is known', async () => {
    const { apiKey } = await addPartner(first, 'known');
    // From now on the replica knows an index version to look under.
    expect((await get(first, apiKey)).status).toBe(200);
    const before = await readsOfParts();
    for (let wallet = 2002; wallet < 2022; wallet++) {
      const path = `/api/staking/snapshots?walletAddress=${aWallet(wallet)}`;
      for (const key of ['any text', mintCredential().apiKey]) {
        expect((await get(first, key, path)).status).toBe(401);
      }
    }
    expect(await readsOfParts()).toBe(before);
    const path = `/api/staking/snapshots?walletAddress=${aWallet(2002)}`;
    expect((await get(first, apiKey, path)).status).toBe(404);
    expect(await readsOfParts()).toBe(before + 1);
  });
});

describe('replicas that share a Redis', () => {
  it('admit together what one partner may do, and not one more', async () => {
    const refusedUntilNow = async (): Promise<number> => {
      const name = 'lowmark_rate_limited_total{limit="partner"';
      const [one, other] = await Promise.all(replicas.both.map((each) => metric(each, name)));
      return (one ?? 0) + (other ?? 0);
    };
    const { apiKey } = await addPartner(first, 'shared', { rate: 1, burst: 300 });
    const before = await refusedUntilNow();
    const startMs = performance.now();
    const statuses: number[] = [];
    const one = async (replica: Api): Promise<void> => {
      for (let i = 0; i < 50; i += 1) statuses.push((await get(replica, apiKey)).status);
    };
    await Promise.all(Array.from({ length: 6 }, () => replicas.both.map(one)).flat());
    const seconds = (performance.now() - startMs) / 1000;
    const count = (status: number): number => statuses.filter((each) => each === status).length;
    const [admitted, refused] = [count(200), count(429)];
    expect(admitted + refused).toBe(600);
    expect(admitted).toBeGreaterThanOrEqual(300);
    expect(admitted).toBeLessThanOrEqual(300 + seconds + 1);
    expect((await refusedUntilNow()) - before).toBe(refused);
  });

  it('take a limit that the cli changed within seconds', async () => {
    const { apiKey } = await addPartner(first, 'changing', { rate: 1, burst: 1 });
    await Promise.all(replicas.both.map((replica) => get(replica, apiKey)));
    const limits = async (): Promise<(string | null)[]> => {
      const answers = await Promise.all(replicas.both.map((replica) => get(replica, apiKey)));
      return answers.map(({ headers }) => headers.get('x-ratelimit-limit'));
    };
    expect(await limits()).toEqual(['1', '1']);
    const database = await first.database.open();
    await database.pool.query(`UPDATE partners.partner SET rate = 1000, burst = 500`);
    for (const replica of replicas.both) replica.clock.advance(5000);
    expect(await limits()).toEqual(['500', '500']);
  });
});

describe('replicas that have just started', () => {
  let shared: Replicas;
  beforeEach(async () => {
    shared = replicas;
    replicas = await Replicas.start(PATIENT_MS);
    [first, second] = replicas.both;
  });
  afterEach(async () => {
    await replicas.stop();
    replicas = shared;
    [first, second] = replicas.both;
  });

  /** An answer without `requestedAt`. */
  async function body(replica: Api, apiKey: string): Promise<unknown> {
    const { requestedAt, ...rest } = (await (await get(replica, apiKey)).json()) as {
      requestedAt: string;
    };
    expect(requestedAt).toBe(new Date(replica.clock.nowMs()).toISOString());
    return rest;
  }

  const looksInRedis = (result: 'hit' | 'miss'): string =>
    `lowmark_cache_requests_total{layer="redis",result="${result}"`;

  /**
   * Adds a partner, after both replicas have seen a state of the index: without one they know no index version to look
   * under.
   */
  async function aReader(): Promise<string> {
    const { apiKey } = await addPartner(first, 'reader');
    await get(second, apiKey, `/api/staking/snapshots?walletAddress=${aWallet(2)}`);
    return apiKey;
  }

  it('use what the other has read', async () => {
    const apiKey = await aReader();
    const answer = await body(first, apiKey);
    expect(await body(second, apiKey)).toEqual(answer);
    expect(await metric(second, looksInRedis('hit'))).toBe(1);
    expect(await body(second, apiKey)).toEqual(answer);
    expect(await metric(second, looksInRedis('hit'))).toBe(1);
  });

  it('take rubbish in Redis for nothing', async () => {
    const apiKey = await aReader();
    const answer = await body(first, apiKey);
    const client = new Redis(replicas.redis.url);
    try {
      const keys = await client.keys('lowmark:part:*');
      expect(keys).toHaveLength(1);
      for (const key of keys) await client.set(key, '[[20000,"-1","x"]]');
    } finally {
      client.disconnect();
    }
    expect(await body(second, apiKey)).toEqual(answer);
    expect(await metric(second, looksInRedis('hit'))).toBe(0);
  });

  it('are both paid for a batch that is refused, until none is read any more', async () => {
    const policy = { rate: 1, burst: 1000 };
    const { apiKey } = await addPartner(first, 'refused', policy);
    await replicas.untilUsed(true);
    expect((await batch(first, apiKey, 300)).status).toBe(200);
    const asked = Array.from({ length: 200 }, (_, place) =>
      batch(replicas.both[place % 2] ?? first, apiKey, 1000),
    );
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([429]));
    const { headers } = await get(first, apiKey);
    // Each of the first 31 took 22 of what was left. For the rest there was no room.
    expect(Number(headers.get('x-ratelimit-remaining'))).toBeLessThan(150);
  });

  it('cost one read of the wallet, however many ask for it', async () => {
    const { apiKey } = await addPartner(first, 'herd');
    await get(first, apiKey, '/nowhere');
    const answers = await Promise.all(Array.from({ length: 100 }, () => get(first, apiKey)));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    const misses = 'lowmark_cache_requests_total{layer="process",result="miss"';
    expect(await metric(first, misses)).toBe(1);
  });
});
