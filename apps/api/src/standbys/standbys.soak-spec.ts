import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import {
  eventually,
  ReplicatedPostgres,
  type ReplicatedServer,
  type TestDatabase,
} from '#libs/testing';
import { addPartner, type Api, startApi } from '../testing/api-harness.support-spec.js';
import { ALICE, ask, ChangingIndex } from '../snapshots/never-stale.support-spec.js';
import { Standbys } from './standbys.js';

const MAX_LAG_MS = 2000;

let postgres: ReplicatedPostgres;
let primary: ReplicatedServer;
let [one, other]: ReplicatedServer[] = [];
let index: ChangingIndex;
let api: Api;
let apiKey: string;
let partners = 0;
let database: TestDatabase;

beforeAll(async () => {
  postgres = await ReplicatedPostgres.start(2);
  ({ primary } = postgres);
  [one, other] = postgres.standbys;
});
afterAll(() => postgres.stop());

beforeEach(async () => {
  await primary.query(
    'TRUNCATE staking.index_state, staking.block, staking.balance_change, staking.balance_day, staking.price',
  );
  database = postgres.database;
  index = await ChangingIndex.on(database);
  await postgres.level();
  const urls = postgres.standbys.map((standby) => standby.urlAs('api'));
  api = await startApi({ DATABASE_READ_URLS: urls.join(',') }, database);
  ({ apiKey } = await addPartner(api, `reader ${++partners}`, { rate: 1e6, burst: 1e6 }));
  await eventually(() => usable() === 2);
  await snapshot();
});
afterEach(async () => {
  await api.stop();
  await database.close();
});

const snapshot = async (): Promise<number | undefined> => (await ask(api, apiKey)).balance;
const standbys = (): Standbys => api.app.get(Standbys, { strict: false });
const usable = (): number => standbys().all.filter((one) => standbys().isUsable(one)).length;
const readsOnStandbys = (): number[] => standbys().all.map(({ counts }) => counts.reads);
const fallbacks = (why: 'failed' | 'older' | 'without-primary'): number =>
  standbys().all.reduce((sum, { counts }) => sum + counts.fallbacks[why], 0);
const server = (found: ReplicatedServer | undefined): ReplicatedServer => {
  if (found === undefined) throw new Error('there are two standbys');
  return found;
};

/** Repeats the request until the answer shows the newest change of the index. */
async function untilNewest(): Promise<void> {
  await eventually(async () => (await snapshot()) === index.committed);
}

describe('reads with two standbys', () => {
  it('are spread over both, and the primary has none', async () => {
    const [primaryBefore, before] = [standbys().primaryReads, readsOnStandbys()];
    for (let i = 0; i < 20; i += 1) expect(await snapshot()).toBe(index.committed);
    expect(standbys().primaryReads).toBe(primaryBefore);
    expect(readsOnStandbys()).toEqual(before.map((reads) => reads + 10));
  });

  it('are counted, and the lag of each standby is told', async () => {
    await snapshot();
    const { text } = await request(api.url).get('/metrics').expect(200);
    for (const { host } of postgres.standbys.map(({ url }) => new URL(url))) {
      expect(text).toMatch(new RegExp(`lowmark_standby_used\\{standby="${host}",.*\\} 1`));
      expect(text).toMatch(new RegExp(`lowmark_standby_lag_seconds\\{standby="${host}",.*\\} 0`));
      expect(text).toMatch(new RegExp(`lowmark_snapshot_reads_total\\{server="${host}",.*\\} \\d`));
      expect(text).toContain(`lowmark_standby_fallbacks_total{standby="${host}",why="failed"`);
    }
    expect(text).toMatch(/lowmark_snapshot_reads_total\{server="primary",.*\} \d/);
    expect(text).not.toContain('test_api');
  });
});

describe('batches and histories', () => {
  const NOBODY = `0x${'9'.repeat(40)}`;

  /** ALICE's balance of yesterday from a batch, and her present balance from the history. */
  async function balances(): Promise<(number | undefined)[]> {
    const batch = await request(api.url)
      .post('/api/staking/snapshots/batch')
      .set('X-API-KEY', apiKey)
      .send({ walletAddresses: [ALICE, NOBODY], lastDays: 1 })
      .expect(200);
    const { results } = batch.body as {
      results: { body: { stakingSnapshots?: { snapshotAmount: number }[] } }[];
    };
    expect(results[1]?.body.stakingSnapshots).toBeUndefined();
    const history = await request(api.url)
      .get(`/api/staking/history?walletAddress=${ALICE}`)
      .set('X-API-KEY', apiKey)
      .expect(200);
    const { intervals } = history.body as { intervals: { stakedAmount: number }[] };
    return [
      results[0]?.body.stakingSnapshots?.at(-1)?.snapshotAmount,
      intervals.at(-1)?.stakedAmount,
    ];
  }

  it('are read on standbys too, and show nothing of what was taken back', async () => {
    const { primaryReads } = standbys();
    for (let round = 0; round < 5; round += 1) {
      // Caches the wallet under the index version that ends with the reorganisation.
      await snapshot();
      expect(await balances()).toEqual([index.committed, index.committed]);
      await index.reorganise();
      await postgres.level();
    }
    expect(standbys().primaryReads).toBe(primaryReads);
  });
});

describe('a standby that lags', () => {
  const pause = (...servers: ReplicatedServer[]) =>
    Promise.all(servers.map((one) => one.query('SELECT pg_wal_replay_pause()')));
  const resume = () =>
    Promise.all(postgres.standbys.map((one) => one.query('SELECT pg_wal_replay_resume()')));
  afterEach(resume);

  it('gives way to the primary when it lags more than allowed, and is used again when it does not', async () => {
    await pause(...postgres.standbys);
    await index.reorganise();
    api.clock.advance(MAX_LAG_MS + 1);
    expect(await snapshot()).toBe(index.committed);
    // Further probes do not make the standbys usable.
    const before = standbys().all.map(({ probes }) => probes);
    await eventually(() => standbys().all.every(({ probes }, i) => probes > (before[i] ?? 0) + 2));
    expect(usable()).toBe(0);
    await resume();
    await eventually(() => usable() === 2);
    const reads = standbys().primaryReads;
    expect(await snapshot()).toBe(index.committed);
    expect(standbys().primaryReads).toBe(reads);
  });

  it('shows nothing that an earlier answer was past, in a reorganisation neither', async () => {
    await pause(server(one));
    await index.reorganise();
    await postgres.level([server(other)]);
    await untilNewest();
    for (let i = 0; i < 20; i += 1) expect(await snapshot()).toBe(index.committed);
    expect(fallbacks('older')).toBeGreaterThan(0);
    await index.reorganise();
    await postgres.level([server(other)]);
    await untilNewest();
    for (let i = 0; i < 20; i += 1) expect(await snapshot()).toBe(index.committed);
  });

  it('never shows a price that was replaced after the newest', async () => {
    await pause(server(one));
    const usd = await index.price(api.clock.nowMs());
    await postgres.level([server(other)]);
    await eventually(async () => (await ask(api, apiKey)).usd === usd);
    for (let i = 0; i < 20; i += 1) expect((await ask(api, apiKey)).usd).toBe(usd);
  });

  it('is within its bounds under load, while the index is reorganised and replay stops and goes on', async () => {
    let done = false;
    let answered = 0;
    const asking = Array.from({ length: 4 }, async () => {
      while (!done) {
        const floor = answered;
        const balance = await snapshot();
        if (balance === undefined || balance === Infinity) continue;
        expect(balance).toBeGreaterThanOrEqual(floor);
        expect(balance).toBeLessThanOrEqual(index.begun);
        answered = Math.max(answered, balance);
      }
    });
    const changing = async (): Promise<void> => {
      for (let i = 0; i < 10; i += 1) {
        await pause(server(postgres.standbys[i % 2]));
        await index.reorganise();
        await index.reorganise();
        // From now on every answer must include what was committed before.
        const committed = index.committed;
        api.clock.advance(MAX_LAG_MS + 1);
        expect(await snapshot()).toBeGreaterThanOrEqual(committed);
        await resume();
      }
    };
    const all = Promise.all(asking);
    await Promise.race([changing(), all]).finally(() => (done = true));
    await all;
    expect(answered).toBeGreaterThan(1);
    await untilNewest();
  });
});

describe('a standby that fails', () => {
  it('is left aside when it is stopped in its tracks, and used again when it goes on', async () => {
    server(one).freeze();
    try {
      for (let i = 0; i < 10; i += 1) expect(await snapshot()).toBe(index.committed);
      expect(fallbacks('failed')).toBeGreaterThan(0);
      expect(usable()).toBe(1);
      await request(api.url).get('/health/ready').expect(200);
    } finally {
      server(one).thaw();
    }
    await eventually(() => usable() === 2, 30_000);
  });

  it('is left aside when it is killed, and used again when it is back', async () => {
    const { host } = new URL(server(one).url);
    const logged = (msg: string, times: number): Promise<void> =>
      eventually(() => {
        const lines = api.logs.map((line) => JSON.parse(line) as Record<string, unknown>);
        return (
          lines.filter((line) => line['standby'] === host && line['msg'] === msg).length === times
        );
      }, 30_000);
    await logged('Reads use a standby', 1);
    await server(one).kill();
    for (let i = 0; i < 10; i += 1) expect(await snapshot()).toBe(index.committed);
    await logged('A standby is left aside', 1);
    expect(usable()).toBe(1);
    await request(api.url).get('/health/ready').expect(200);
    await server(one).start();
    await logged('Reads use a standby', 2);
    expect(usable()).toBe(2);
    expect(api.logs.join('')).not.toContain('test_api');
  });

  it('does not keep the api from starting', async () => {
    await server(one).kill();
    await server(other).kill();
    const urls = postgres.standbys.map((standby) => standby.urlAs('api'));
    const late = await startApi({ DATABASE_READ_URLS: urls.join(',') }, database);
    expect((await ask(late, apiKey)).balance).toBe(index.committed);
    await server(one).start();
    await server(other).start();
    const found = late.app.get(Standbys, { strict: false });
    await eventually(() => found.all.every((standby) => found.isUsable(standby)), 30_000);
    await late.stop();
  });
});

describe('without the primary', () => {
  it('standbys answer for as long as the index is fresh by itself, then 503', async () => {
    await index.reorganise();
    await postgres.level();
    await untilNewest();
    await primary.kill();
    try {
      api.clock.advance(MAX_LAG_MS + 1);
      // Waits until both standbys were probed again.
      await eventually(() => usable() === 2);
      for (let i = 0; i < 10; i += 1) expect(await snapshot()).toBe(index.committed);
      await request(api.url).get('/health/ready').expect(200);
      api.clock.advance(120_000);
      await eventually(() => usable() === 2);
      expect(await snapshot()).toBe(Infinity);
      expect(fallbacks('without-primary')).toBeGreaterThan(0);
    } finally {
      await primary.start();
    }
    await eventually(async () => (await snapshot()) === index.committed, 30_000);
  });
});

describe('a server that is no standby any more', () => {
  it('is left aside', async () => {
    await server(one).query('SELECT pg_promote()');
    await eventually(() => usable() === 1);
    for (let i = 0; i < 10; i += 1) expect(await snapshot()).toBe(index.committed);
    await eventually(() => api.logs.some((line) => line.includes('is no standby')));
  });
});
