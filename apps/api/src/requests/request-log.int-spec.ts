import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type AnsweredRequest, type Database, PortalDatabase, readRequests } from '#libs/db';
import { type PartnerId } from '#libs/domain';
import { hmacSha256Hex } from '#libs/signing';
import { eventually } from '#libs/testing/clock';
import { aWallet, createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { aPartnerId } from '#libs/testing/partner';
import {
  addPartner,
  ANON_SECRET,
  type Api,
  seedIndex,
  startApi,
} from '../testing/api-harness.support.js';
import { exchange, type RawAnswer } from '../testing/wire.support.js';
import { RequestLog } from './request-log.js';

const SNAPSHOTS = `/api/staking/snapshots?walletAddress=${aWallet(1)}&lastDays=7`;
const BATCH = '/api/staking/snapshots/batch';

let database: TestDatabase;
let api: Api;
let log: RequestLog;
/** The portal's user may have few connections, so all reads share these. */
let owner: Database;
let portal: PortalDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  owner = await database.open();
  portal = new PortalDatabase(await database.open({ url: database.urlAs('portal') }));
  api = await startApi({}, database);
  log = api.app.get(RequestLog);
  await seedIndex(api);
});
afterAll(async () => {
  await api.stop();
  await database.drop();
});

/** The logged requests of one partner, oldest first, once there are so many. */
async function logged(name: string, count: number): Promise<AnsweredRequest[]> {
  await eventually(async () => (await read(name)).length >= count);
  return read(name);
}

async function read(name: string): Promise<AnsweredRequest[]> {
  const text = 'SELECT id FROM partners.partner WHERE name = $1';
  const [partner] = await owner.query<{ id: PartnerId }>({ text }, [name]);
  const rows = await portal.asPartner(partner?.id ?? aPartnerId(), (query) =>
    readRequests(query, { limit: 100 }),
  );
  return rows.reverse();
}

describe('the log of requests', () => {
  it('has what a partner asked and was answered, of every kind, as it was signed', async () => {
    const credential = await addPartner(api, 'caller');
    const expected = [
      [SNAPSHOTS, 200, null],
      [`/api/staking/snapshots?walletAddress=${aWallet(2)}`, 404, 'NOT_FOUND'],
      ['/api/staking/snapshots?walletAddress=nonsense', 400, 'BAD_REQUEST'],
      ['/no/such/route?q=%F0%9F%A6%8A', 404, 'NOT_FOUND'],
      ['/docs', 200, null],
    ] as const;
    const answers: RawAnswer[] = [];
    for (const [path] of expected) {
      const headers = { 'x-request-id': `order-${answers.length}` };
      answers.push(await api.as(credential).ask(path, { headers }));
    }
    const rows = await logged('caller', expected.length);
    expect(rows.map(({ path, status, code }) => [path, status, code])).toEqual(expected);
    for (const [place, row] of rows.entries()) {
      const { headers, body } = answers[place] as RawAnswer;
      const { apiKey, sharedSecret } = credential;
      expect(row).toMatchObject({
        ...{ signature: headers['x-api-signature'], requestId: `order-${place}`, method: 'GET' },
        ...{ bodyBytes: Buffer.byteLength(body), keyPrefix: apiKey.slice(0, 12) },
      });
      expect(body.startsWith(row.body.toString())).toBe(true);
      expect(row.durationUs).toBeGreaterThan(0);
      if (row.body.length < row.bodyBytes) continue;
      const content = `GET${row.path.split('?')[0] ?? ''}${row.body.toString()}`;
      expect(hmacSha256Hex(sharedSecret, content)).toBe(row.signature);
    }
  });

  it('has a batch as one request, with the beginning of its answer', async () => {
    const walletAddresses = Array.from({ length: 200 }, (_, place) => aWallet(100 + place));
    const caller = api.as(await addPartner(api, 'batches'));
    const { headers, body } = await caller.post(BATCH, { walletAddresses });
    const [row, ...more] = await logged('batches', 1);
    expect(more).toEqual([]);
    expect(row).toMatchObject({
      ...{ method: 'POST', path: BATCH, status: 200, code: null },
      ...{ signature: headers['x-api-signature'], bodyBytes: Buffer.byteLength(body) },
    });
    expect(body.startsWith(row?.body.toString() ?? 'none')).toBe(true);
    expect(row?.body.length).toBeLessThan(Buffer.byteLength(body));
  });

  it('has the 429 of a partner, a HEAD without a body, and paths as they came', async () => {
    const credential = await addPartner(api, 'hasty', { rate: 1, burst: 3 });
    await api.as(credential).ask(SNAPSHOTS, { method: 'HEAD' });
    const wild = '/a{"b\\,}?c=|^`<script>';
    for (const path of [wild, '/%zz', '/too-many']) {
      const head = `GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nx-api-key: ${credential.apiKey}\r\n\r\n`;
      await exchange(api.port, [head]);
    }
    const rows = await logged('hasty', 4);
    expect(rows.map(({ path, status, code }) => [path, status, code])).toEqual([
      [SNAPSHOTS, 200, null],
      [wild, 404, 'NOT_FOUND'],
      ['/%zz', 400, 'BAD_REQUEST'],
      ['/too-many', 429, 'RATE_LIMIT_EXCEEDED'],
    ]);
    expect(rows[0]).toMatchObject({ method: 'HEAD', bodyBytes: 0 });
  });

  it('has nothing of callers without a valid key, and no partner sees another’s', async () => {
    const known = await addPartner(api, 'known');
    await addPartner(api, 'other');
    const { written } = log;
    await api.as().ask(SNAPSHOTS);
    const unknown = { apiKey: `svck_${'x'.repeat(43)}`, sharedSecret: ANON_SECRET };
    await api.as(unknown).ask(SNAPSHOTS);
    await api.as(known).ask('/health/live');
    expect(await logged('known', 1)).toHaveLength(1);
    expect(log.written).toBe(written + 1);
    expect(await read('other')).toEqual([]);
  });

  it.each([
    ['has what still waited when the api stopped', {}, 1],
    ['is off where the operator says so', { REQUEST_LOG: '0' }, 0],
  ])('%s', async (name, settings, rows) => {
    const other = await startApi(settings, database);
    await other.as(await addPartner(api, name)).read(SNAPSHOTS);
    await other.stop();
    expect(await read(name)).toHaveLength(rows);
  });
});

describe('while the database does not take it', () => {
  /** Waits until all that is logged from here on is written or dropped. */
  const settled = async (count: number, before: number): Promise<void> =>
    eventually(() => log.written + log.dropped === before + count);

  const agent = new Agent({ keepAlive: true, maxSockets: 40 });
  afterAll(() => {
    agent.destroy();
  });

  async function statusOf(path: string, apiKey: string): Promise<number | undefined> {
    const asked = get(api.url + path, { agent, headers: { 'x-api-key': apiKey } });
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    await once(response.resume(), 'end');
    return response.statusCode;
  }

  const flood = async (apiKey: string, path: string, count: number): Promise<Set<unknown>> =>
    new Set(await Promise.all(Array.from({ length: count }, () => statusOf(path, apiKey))));

  it('every request is answered, a bounded number waits, and the rest is counted', async () => {
    const crowd = await addPartner(api, 'crowd', { rate: 100_000, burst: 100_000 });
    const caller = api.as(crowd);
    await caller.ask(SNAPSHOTS);
    await logged('crowd', 1);
    const [before, dropped] = [log.written + log.dropped, log.dropped];
    api.link.cut();
    expect(await flood(crowd.apiKey, '/no/such/route', 3000)).toEqual(new Set([404]));
    expect(log.dropped - dropped).toBeGreaterThanOrEqual(3000 - 2000);
    api.link.resume();
    await caller.ask('/after');
    await settled(3001, before);
    const text =
      "SELECT count(*)::int AS rows FROM partners.request WHERE path IN ('/no/such/route', '/after')";
    const [{ rows } = { rows: 0 }] = await owner.query<{ rows: number }>({ text });
    expect(rows + log.dropped - dropped).toBe(3001);
  });

  it('what one key asks displaces no row of another partner', async () => {
    const names = ['quiet 0', 'quiet 1', 'quiet 2'];
    const quiet = await Promise.all(names.map(async (name) => api.as(await addPartner(api, name))));
    const { apiKey, ...greedy } = await addPartner(api, 'flood', { rate: 1, burst: 1 });
    for (const caller of [...quiet, api.as({ apiKey, ...greedy })]) await caller.ask('/first');
    for (const name of [...names, 'flood']) await logged(name, 1);
    const [before, dropped] = [log.written + log.dropped, log.dropped];
    api.link.cut();
    // What is being written may hold the first of these. The others fill the batch behind it.
    await flood(apiKey, '/flood', 2200);
    for (const caller of quiet) for (const path of ['/a', '/b', '/c']) await caller.ask(path);
    expect(await flood(apiKey, '/flood', 1100)).toEqual(new Set([429]));
    api.link.resume();
    await settled(3300 + 9, before);
    for (const name of names) {
      const paths = (await read(name)).map(({ path }) => path);
      expect(paths).toEqual(['/first', '/a', '/b', '/c']);
    }
    expect(log.dropped - dropped).toBeGreaterThan(1000);
  });

  it('goes on when it does again, and says so once', async () => {
    const credential = await addPartner(api, 'lost');
    const caller = api.as(credential);
    await caller.ask(SNAPSHOTS);
    await logged('lost', 1);
    const before = api.logs.length;
    const right = 'EXECUTE ON FUNCTION partners.note_requests';
    await owner.query({ text: `REVOKE ${right} FROM lowmark_reader` });
    for (const path of ['/lost/1', '/lost/2']) {
      const { dropped } = log;
      expect((await caller.ask(path)).status).toBe(404);
      await eventually(() => log.dropped === dropped + 1);
    }
    await owner.query({ text: `GRANT ${right} TO lowmark_reader` });
    await caller.ask('/kept');
    expect((await logged('lost', 2)).map(({ path }) => path)).toEqual([SNAPSHOTS, '/kept']);
    const said = api.logs.slice(before).filter((line) => line.includes('Requests are not logged'));
    expect(said).toHaveLength(1);
    expect(api.logs.join('')).not.toContain(credential.apiKey);
  });
});
