import { Agent, request as send } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PartnerId } from '#libs/domain';
import { type AnsweredRequest, type Database, PortalDatabase, readRequests } from '#libs/db';
import { hmacSha256Hex } from '#libs/signing';
import { eventually } from '#libs/testing/clock';
import { aWallet, createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { aPartnerId } from '#libs/testing/partner';
import { addPartner, type Api, seedIndex, startApi } from '../testing/api-harness.support.js';
import { exchange } from '../testing/wire.support.js';
import { RequestLog } from './request-log.js';

const SNAPSHOTS = `/api/staking/snapshots?walletAddress=${aWallet(1)}&lastDays=7`;

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
  await seedIndex(api, {
    events: [['2026-11-10T10:00:00Z', aWallet(1), 1]],
    headAt: '2026-11-21T12:00:00Z',
  });
});
afterAll(async () => {
  agent.destroy();
  await api.stop();
  await database.drop();
});

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly signature: string;
}

const agent = new Agent({ keepAlive: true, maxSockets: 40 });

function ask(
  path: string,
  apiKey?: string,
  method = 'GET',
  more: Record<string, string> = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { ...(apiKey !== undefined && { 'x-api-key': apiKey }), ...more };
    const asked = send(api.url + path, { method, headers, agent }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () => {
        const signature = String(response.headers['x-api-signature']);
        const body = Buffer.concat(parts).toString();
        resolve({ status: response.statusCode ?? 0, body, signature });
      });
    });
    asked.on('error', reject).end();
  });
}

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
    const { apiKey, sharedSecret } = await addPartner(api, 'caller');
    const paths = [
      SNAPSHOTS,
      `/api/staking/snapshots?walletAddress=${aWallet(2)}`,
      '/api/staking/snapshots?walletAddress=nonsense',
      '/no/such/route?q=%F0%9F%A6%8A',
      '/docs',
    ];
    const answers: Answer[] = [];
    for (const [place, path] of paths.entries()) {
      answers.push(await ask(path, apiKey, 'GET', { 'x-request-id': `order-${place}` }));
    }
    const rows = await logged('caller', paths.length);
    expect(rows.map(({ path }) => path)).toEqual(paths);
    expect(rows.map(({ status }) => status)).toEqual([200, 404, 400, 404, 200]);
    expect(rows.map(({ code }) => code)).toEqual([
      ...[null, 'NOT_FOUND', 'BAD_REQUEST', 'NOT_FOUND', null],
    ]);
    for (const [place, row] of rows.entries()) {
      const answer = answers[place];
      const { signature } = answer ?? {};
      expect(row).toMatchObject({ signature, requestId: `order-${place}`, method: 'GET' });
      expect(row.bodyBytes).toBe(Buffer.byteLength(answer?.body ?? ''));
      expect(answer?.body.startsWith(row.body.toString())).toBe(true);
      expect(row.durationUs).toBeGreaterThan(0);
      expect(row.keyPrefix).toBe(apiKey.slice(0, 12));
      const [path] = row.path.split('?');
      if (row.body.length < row.bodyBytes) continue;
      expect(hmacSha256Hex(sharedSecret, `GET${path}${row.body.toString()}`)).toBe(row.signature);
    }
  });

  it('has a batch as one request, with the beginning of its answer', async () => {
    const { apiKey } = await addPartner(api, 'batches');
    const walletAddresses = Array.from({ length: 100 }, () => aWallet(1)).concat(
      Array.from({ length: 100 }, (_, place) => aWallet(100 + place)),
    );
    const answer = await fetch(`${api.url}/api/staking/snapshots/batch`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ walletAddresses }),
    });
    const body = await answer.text();
    const [row, ...more] = await logged('batches', 1);
    expect(more).toEqual([]);
    expect(row).toMatchObject({
      ...{ method: 'POST', path: '/api/staking/snapshots/batch', status: 200, code: null },
      signature: answer.headers.get('x-api-signature'),
      bodyBytes: Buffer.byteLength(body),
    });
    expect(body.startsWith(row?.body.toString() ?? 'none')).toBe(true);
    expect(row?.body.length).toBeLessThan(Buffer.byteLength(body));
  });

  it('has the 429 of a partner, a HEAD without a body, and paths as they came', async () => {
    const { apiKey } = await addPartner(api, 'hasty', { rate: 1, burst: 3 });
    await ask(SNAPSHOTS, apiKey, 'HEAD');
    const wild = '/a{"b\\,}?c=|^`<script>';
    for (const path of [wild, '/%zz', '/too-many']) {
      const head = `GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nx-api-key: ${apiKey}\r\n\r\n`;
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
    const { apiKey } = await addPartner(api, 'known');
    await addPartner(api, 'other');
    const { written } = log;
    await ask(SNAPSHOTS);
    await ask(SNAPSHOTS, `svck_${'x'.repeat(43)}`);
    await ask('/health/live', apiKey);
    expect(await logged('known', 1)).toHaveLength(1);
    expect(log.written).toBe(written + 1);
    expect(await read('other')).toEqual([]);
  });

  it.each([
    ['has what still waited when the api stopped', {}, 1],
    ['is off where the operator says so', { REQUEST_LOG: '0' }, 0],
  ])('%s', async (name, settings, rows) => {
    const other = await startApi(settings, database);
    const { apiKey } = await addPartner(api, name);
    const answer = await fetch(other.url + SNAPSHOTS, { headers: { 'x-api-key': apiKey } });
    expect(answer.status).toBe(200);
    await other.stop();
    expect(await read(name)).toHaveLength(rows);
  });
});

describe('while the database does not take it', () => {
  /** Waits until all that is logged from here on is written or dropped. */
  const settled = async (count: number, before: number): Promise<void> =>
    eventually(() => log.written + log.dropped === before + count);

  it('every request is answered, a bounded number waits, and the rest is counted', async () => {
    const { apiKey } = await addPartner(api, 'crowd', { rate: 100_000, burst: 100_000 });
    await ask(SNAPSHOTS, apiKey);
    await logged('crowd', 1);
    const [before, dropped] = [log.written + log.dropped, log.dropped];
    api.link.cut();
    const asked = 3000;
    const answers = await Promise.all(
      Array.from({ length: asked }, () => ask('/no/such/route', apiKey)),
    );
    expect(answers.every(({ status }) => status === 404)).toBe(true);
    expect(log.dropped - dropped).toBeGreaterThanOrEqual(asked - 2000);
    api.link.resume();
    await ask('/after', apiKey);
    await settled(asked + 1, before);
    const text =
      "SELECT count(*)::int AS rows FROM partners.request WHERE path IN ('/no/such/route', '/after')";
    const [{ rows } = { rows: 0 }] = await owner.query<{ rows: number }>({ text });
    expect(rows + log.dropped - dropped).toBe(asked + 1);
  });

  it('what one key asks displaces no row of another partner', async () => {
    const names = ['quiet 0', 'quiet 1', 'quiet 2'];
    const quiet = await Promise.all(names.map((name) => addPartner(api, name)));
    const flood = await addPartner(api, 'flood', { rate: 1, burst: 1 });
    for (const { apiKey } of [...quiet, flood]) await ask('/first', apiKey);
    for (const name of [...names, 'flood']) await logged(name, 1);
    const [before, dropped] = [log.written + log.dropped, log.dropped];
    api.link.cut();
    const refused = () =>
      Promise.all(Array.from({ length: 1100 }, () => ask('/flood', flood.apiKey)));
    // What is being written may hold the first of these. The others fill the batch behind it.
    await refused();
    await refused();
    for (const { apiKey } of quiet) {
      for (const path of ['/a', '/b', '/c']) await ask(path, apiKey);
    }
    await refused();
    api.link.resume();
    await settled(3300 + 9, before);
    for (const name of names) {
      const paths = (await read(name)).map(({ path }) => path);
      expect(paths).toEqual(['/first', '/a', '/b', '/c']);
    }
    expect(log.dropped - dropped).toBeGreaterThan(1000);
  });

  it('goes on when it does again, and says so once', async () => {
    const { apiKey } = await addPartner(api, 'lost');
    await ask(SNAPSHOTS, apiKey);
    await logged('lost', 1);
    const before = api.logs.length;
    const right = 'EXECUTE ON FUNCTION partners.note_requests';
    await owner.query({ text: `REVOKE ${right} FROM lowmark_reader` });
    for (const path of ['/lost/1', '/lost/2']) {
      const { dropped } = log;
      expect((await ask(path, apiKey)).status).toBe(404);
      await eventually(() => log.dropped === dropped + 1);
    }
    await owner.query({ text: `GRANT ${right} TO lowmark_reader` });
    await ask('/kept', apiKey);
    expect((await logged('lost', 2)).map(({ path }) => path)).toEqual([SNAPSHOTS, '/kept']);
    const said = api.logs.slice(before).filter((line) => line.includes('Requests are not logged'));
    expect(said).toHaveLength(1);
    expect(api.logs.join('')).not.toContain(apiKey);
  });
});
