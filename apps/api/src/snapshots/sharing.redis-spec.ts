import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { mintCredential } from '#libs/signing';
import { aWallet, eventually, startRedis, type TestRedis } from '#libs/testing';
import { addPartner, type Api, seedIndex, startApi } from '../testing/api-harness.support-spec.js';

const PASSWORD = 'a-password-of-redis';
const PATIENT_MS = 10_000;

let redis: TestRedis;
let replicas: [Api, Api];

/** @param patienceMs long where all is well: on a busy machine answers are late, and a replica would go on without them */
async function startReplicas(patienceMs?: number): Promise<void> {
  redis = await startRedis(PASSWORD);
  const settings = { REDIS_URL: redis.url };
  const first = await startApi(settings, undefined, patienceMs);
  replicas = [first, await startApi(settings, first.database, patienceMs)];
  await seedIndex(first, {
    events: [['2026-11-10T10:00:00Z', aWallet(1), 100]],
    headAt: '2026-11-21T12:00:00Z',
  });
}

afterEach(async () => {
  for (const replica of replicas.toReversed()) {
    expect(replica.logs.join('')).not.toContain(PASSWORD);
    await replica.stop();
  }
  await redis.stop();
});

const get = (replica: Api, apiKey: string, path = ''): Promise<Response> =>
  fetch(`${replica.url}${path || `/api/staking/snapshots?walletAddress=${aWallet(1)}`}`, {
    headers: { 'x-api-key': apiKey },
  });

async function metric(replica: Api, name: string): Promise<number> {
  const text = await (await get(replica, '', '/metrics')).text();
  const line = text.split('\n').find((one) => one.startsWith(name));
  return Number(line?.slice(line.lastIndexOf(' ')));
}

const redisIsUsed = (replica: Api): Promise<boolean> =>
  get(replica, '', '/health/ready').then(async (response) => {
    expect(response.status).toBe(200);
    const { checks } = (await response.json()) as {
      checks: { redis: { details: { used: boolean } } };
    };
    return checks.redis.details.used;
  });

const silence = (): Promise<void> => {
  redis.pause();
  return Promise.resolve();
};

const speech = (): Promise<void> => {
  redis.resume();
  return Promise.resolve();
};

async function untilUsed(used: boolean): Promise<void> {
  for (const replica of replicas) {
    while ((await redisIsUsed(replica)) !== used) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

/** Asks both replicas from many sides for a while; how many were admitted, and every status. */
async function hammer(
  apiKey: string,
  ms: number,
): Promise<{ admitted: number; seconds: number; statuses: Set<number> }> {
  const startMs = performance.now();
  const statuses = new Set<number>();
  let admitted = 0;
  const one = async (replica: Api): Promise<void> => {
    while (performance.now() - startMs < ms) {
      const { status } = await get(replica, apiKey);
      statuses.add(status);
      if (status === 200) admitted += 1;
    }
  };
  await Promise.all([...replicas, ...replicas, ...replicas, ...replicas].map(one));
  return { admitted, seconds: (performance.now() - startMs) / 1000, statuses };
}

/** How often Redis was asked for what is kept of wallets. */
async function readsOfParts(): Promise<number> {
  const client = new Redis(redis.url);
  const stats = await client.info('commandstats');
  client.disconnect();
  return Number(/^cmdstat_mget:calls=(\d+)/m.exec(stats)?.[1] ?? 0);
}

/** As many wallets as said, by one request. */
async function batch(replica: Api, apiKey: string, count: number): Promise<Response> {
  const walletAddresses = Array.from({ length: count }, (_, place) => aWallet(1 + place));
  return fetch(`${replica.url}/api/staking/snapshots/batch`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ walletAddresses }),
  });
}

describe('a batch', () => {
  beforeEach(() => startReplicas(PATIENT_MS));

  it('weighs on the limit that both replicas share as what it holds', async () => {
    const policy = { rate: 1, burst: 1000 };
    const { apiKey } = await addPartner(replicas[0], 'batches', policy);
    await untilUsed(true);
    const [one, other] = replicas;
    expect((await batch(one, apiKey, 600)).status).toBe(200);
    // 100 come back in as many seconds.
    expect((await batch(other, apiKey, 500)).status).toBe(429);
    expect((await batch(other, apiKey, 400)).status).toBe(200);
    expect((await batch(one, apiKey, 100)).status).toBe(429);
    const { headers } = await get(one, apiKey);
    expect(Number(headers.get('x-ratelimit-remaining'))).toBeLessThan(100);
  });

  it('neither looks in Redis nor leaves anything there', async () => {
    const { apiKey } = await addPartner(replicas[0], 'quiet');
    await untilUsed(true);
    expect((await batch(replicas[0], apiKey, 2)).status).toBe(200);
    const before = await readsOfParts();
    for (const replica of replicas) expect((await batch(replica, apiKey, 50)).status).toBe(200);
    expect(await readsOfParts()).toBe(before);
    const client = new Redis(redis.url);
    const kept = await client.keys('lowmark:part:*');
    client.disconnect();
    expect(kept).toEqual([]);
  });
});

describe('what is kept of a wallet', () => {
  beforeEach(() => startReplicas(PATIENT_MS));

  it('is not looked for in Redis before the caller is known', async () => {
    const { apiKey } = await addPartner(replicas[0], 'known');
    await untilUsed(true);
    // From now on the replica knows a version to look under.
    expect((await get(replicas[0], apiKey)).status).toBe(200);
    const before = await readsOfParts();
    for (let wallet = 2; wallet < 22; wallet++) {
      const path = `/api/staking/snapshots?walletAddress=${aWallet(wallet)}`;
      for (const key of ['any text', mintCredential().apiKey]) {
        expect((await get(replicas[0], key, path)).status).toBe(401);
      }
    }
    expect(await readsOfParts()).toBe(before);
    const path = `/api/staking/snapshots?walletAddress=${aWallet(2)}`;
    expect((await get(replicas[0], apiKey, path)).status).toBe(404);
    expect(await readsOfParts()).toBe(before + 1);
  });
});

describe('replicas that share a Redis', () => {
  beforeEach(() => startReplicas(PATIENT_MS));

  it('admit together what one partner may do, and not one more', async () => {
    const { apiKey } = await addPartner(replicas[0], 'shared', { rate: 1, burst: 300 });
    await untilUsed(true);
    const startMs = performance.now();
    const statuses: number[] = [];
    const one = async (replica: Api): Promise<void> => {
      for (let i = 0; i < 50; i += 1) statuses.push((await get(replica, apiKey)).status);
    };
    await Promise.all(Array.from({ length: 6 }, () => replicas.map(one)).flat());
    const seconds = (performance.now() - startMs) / 1000;
    const count = (status: number): number => statuses.filter((each) => each === status).length;
    const [admitted, refused] = [count(200), count(429)];
    expect(admitted + refused).toBe(600);
    expect(admitted).toBeGreaterThanOrEqual(300);
    expect(admitted).toBeLessThanOrEqual(300 + seconds + 1);
    const counted = await Promise.all(
      replicas.map((replica) => metric(replica, 'lowmark_rate_limited_total{limit="partner"')),
    );
    expect(counted.reduce((sum, one) => sum + one, 0)).toBe(refused);
  });

  it('take a limit that the cli changed within seconds', async () => {
    const { apiKey } = await addPartner(replicas[0], 'changing', { rate: 1, burst: 1 });
    await Promise.all(replicas.map((replica) => get(replica, apiKey)));
    const limits = async (): Promise<(string | null)[]> => {
      const answers = await Promise.all(replicas.map((replica) => get(replica, apiKey)));
      return answers.map(({ headers }) => headers.get('x-ratelimit-limit'));
    };
    expect(await limits()).toEqual(['1', '1']);
    const database = await replicas[0].database.open();
    await database.pool.query(`UPDATE partners.partner SET rate = 1000, burst = 500`);
    for (const replica of replicas) replica.clock.advance(5000);
    expect(await limits()).toEqual(['500', '500']);
  });

  /** All of an answer but for its time. */
  async function body(replica: Api, apiKey: string): Promise<unknown> {
    const { requestedAt, ...rest } = (await (await get(replica, apiKey)).json()) as {
      requestedAt: string;
    };
    expect(requestedAt).toBe(new Date(replica.clock.nowMs()).toISOString());
    return rest;
  }

  const looksInRedis = (result: 'hit' | 'miss'): string =>
    `lowmark_cache_requests_total{layer="redis",result="${result}"`;

  /** A partner; and both replicas have seen a state of the index, without which they do not know under which version to look. */
  async function aReader(): Promise<string> {
    const { apiKey } = await addPartner(replicas[0], 'reader');
    await get(replicas[1], apiKey, `/api/staking/snapshots?walletAddress=${aWallet(2)}`);
    return apiKey;
  }

  it('use what the other has read', async () => {
    const apiKey = await aReader();
    const first = await body(replicas[0], apiKey);
    expect(await body(replicas[1], apiKey)).toEqual(first);
    expect(await metric(replicas[1], looksInRedis('hit'))).toBe(1);
    expect(await body(replicas[1], apiKey)).toEqual(first);
    expect(await metric(replicas[1], looksInRedis('hit'))).toBe(1);
  });

  it('take rubbish in Redis for nothing', async () => {
    const apiKey = await aReader();
    const first = await body(replicas[0], apiKey);
    const client = new Redis(redis.url);
    try {
      const keys = await client.keys('lowmark:part:*');
      expect(keys).toHaveLength(1);
      for (const key of keys) await client.set(key, '[[20000,"-1","x"]]');
    } finally {
      client.disconnect();
    }
    expect(await body(replicas[1], apiKey)).toEqual(first);
    expect(await metric(replicas[1], looksInRedis('hit'))).toBe(0);
  });
});

describe('replicas whose Redis fails', () => {
  beforeEach(() => startReplicas());

  it('answer through death, silence and return of Redis, without a 5xx and within one burst of the limit', async () => {
    const policy = { rate: 50, burst: 100 };
    for (const [hurt, heal] of [
      [() => redis.kill(), () => redis.restart()],
      [silence, speech],
    ] as const) {
      const { apiKey } = await addPartner(
        replicas[0],
        `p${Math.floor(performance.now() * 1000)}`,
        policy,
      );
      await untilUsed(true);
      // A replica that was started this moment has no burst of its own.
      await new Promise((resolve) => setTimeout(resolve, 2500));
      const load = hammer(apiKey, 10_000);
      await new Promise((resolve) => setTimeout(resolve, 500));
      await hurt();
      await untilUsed(false);
      // So long that each replica goes on with its part of the rate.
      await new Promise((resolve) => setTimeout(resolve, 7000));
      await heal();
      await untilUsed(true);
      const { admitted, seconds, statuses } = await load;
      expect([...statuses].sort()).toEqual([200, 429]);
      const allowed = policy.burst + policy.rate * seconds;
      expect(admitted).toBeLessThanOrEqual(allowed + policy.burst);
      expect(admitted).toBeGreaterThan(allowed / 2);
      await eventually(async () => (await metric(replicas[0], 'lowmark_redis_up')) === 1);
    }
    const told = replicas[0].logs.filter((line) => line.includes('Redis is'));
    expect(told.length).toBeGreaterThanOrEqual(5);
  });
});

describe('many who ask for the same', () => {
  beforeEach(() => startReplicas(PATIENT_MS));

  it('cost one read of the wallet, however cold the cache', async () => {
    const { apiKey } = await addPartner(replicas[0], 'herd');
    await get(replicas[0], apiKey, '/nowhere');
    const answers = await Promise.all(Array.from({ length: 100 }, () => get(replicas[0], apiKey)));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    const misses = 'lowmark_cache_requests_total{layer="process",result="miss"';
    expect(await metric(replicas[0], misses)).toBe(1);
  });
});
