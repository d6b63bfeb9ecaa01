import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Agent, request as send } from 'node:http';
import { type PartnerId } from '#libs/domain';
import { type AnsweredRequest, PortalDatabase, readRequests } from '#libs/db';
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
let isStopped: boolean;
beforeEach(async () => {
  database = await createTestDatabase();
  await start();
  await seedIndex(api, {
    events: [['2026-11-10T10:00:00Z', aWallet(1), 1]],
    headAt: '2026-11-21T12:00:00Z',
  });
});
afterEach(async () => {
  await stop();
  await database.drop();
});

async function start(settings: Record<string, string> = {}): Promise<void> {
  api = await startApi(settings, database);
  isStopped = false;
}

/** Stopping the api writes the waiting rows. */
async function stop(): Promise<void> {
  if (!isStopped) await api.stop();
  isStopped = true;
}

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly signature: string;
  readonly requestId: string;
}

const agent = new Agent({ keepAlive: true, maxSockets: 40 });
afterEach(() => {
  agent.destroy();
});

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
        const requestId = String(response.headers['x-request-id']);
        resolve({ status: response.statusCode ?? 0, body, signature, requestId });
      });
    });
    asked.on('error', reject).end();
  });
}

/** The logged requests of one partner, oldest first. */
async function logged(name: string): Promise<AnsweredRequest[]> {
  const owner = await database.open();
  const text = 'SELECT id FROM partners.partner WHERE name = $1';
  const [partner] = await owner.query<{ id: PartnerId }>({ text }, [name]);
  const portal = new PortalDatabase(await database.open({ url: database.urlAs('portal') }));
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
    for (const path of paths) answers.push(await ask(path, apiKey));
    await stop();
    const rows = await logged('caller');
    expect(rows.map(({ path }) => path)).toEqual(paths);
    expect(rows.map(({ status }) => status)).toEqual([200, 404, 400, 404, 200]);
    expect(rows.map(({ code }) => code)).toEqual([
      ...[null, 'NOT_FOUND', 'BAD_REQUEST', 'NOT_FOUND', null],
    ]);
    for (const [place, row] of rows.entries()) {
      const answer = answers[place];
      const { signature, requestId } = answer ?? {};
      expect(row).toMatchObject({ signature, requestId, method: 'GET' });
      expect(row.bodyBytes).toBe(Buffer.byteLength(answer?.body ?? ''));
      expect(answer?.body.startsWith(row.body.toString())).toBe(true);
      expect(row.durationUs).toBeGreaterThan(0);
      expect(row.keyPrefix).toBe(apiKey.slice(0, 12));
      const [path] = row.path.split('?');
      if (row.body.length < row.bodyBytes) continue;
      expect(hmacSha256Hex(sharedSecret, `GET${path}${row.body.toString()}`)).toBe(row.signature);
    }
  });

  it('has the id that the client sent, or ours where that cannot be repeated', async () => {
    const { apiKey } = await addPartner(api, 'named');
    const longest = 'x'.repeat(64);
    for (const id of ['order-17', longest, `${longest}x`, '<script>', 'a b', "'; --"]) {
      await ask(SNAPSHOTS, apiKey, 'GET', { 'x-request-id': id });
    }
    await stop();
    const ids = (await logged('named')).map(({ requestId }) => requestId);
    expect(ids.slice(0, 2)).toEqual(['order-17', longest]);
    for (const own of ids.slice(2))
      expect(own).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(ids).toHaveLength(6);
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
    await stop();
    const [row, ...more] = await logged('batches');
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
    await stop();
    const rows = await logged('hasty');
    expect(rows.map(({ path, status, code }) => [path, status, code])).toEqual([
      [SNAPSHOTS, 200, null],
      [wild, 404, 'NOT_FOUND'],
      ['/%zz', 400, 'BAD_REQUEST'],
      ['/too-many', 429, 'RATE_LIMIT_EXCEEDED'],
    ]);
    expect(rows[0]).toMatchObject({ method: 'HEAD', bodyBytes: 0 });
  });

  it('has nothing of callers without a valid key, and no partner sees another’s', async () => {
    const { apiKey } = await addPartner(api, 'caller');
    await addPartner(api, 'other');
    await ask(SNAPSHOTS);
    await ask(SNAPSHOTS, `svck_${'x'.repeat(43)}`);
    await ask('/health/live', apiKey);
    await stop();
    expect(await logged('other')).toEqual([]);
    expect(await logged('caller')).toHaveLength(1);
    const owner = await database.open();
    expect(await owner.query({ text: 'SELECT FROM partners.request' })).toHaveLength(1);
  });

  it('is written while the api runs, too', async () => {
    const { apiKey } = await addPartner(api, 'caller');
    await ask(SNAPSHOTS, apiKey);
    await eventually(async () => (await logged('caller')).length === 1);
  });

  it('is off where the operator says so', async () => {
    await stop();
    await start({ REQUEST_LOG: '0' });
    const { apiKey } = await addPartner(api, 'caller');
    expect((await ask(SNAPSHOTS, apiKey)).status).toBe(200);
    await stop();
    expect(await logged('caller')).toEqual([]);
  });
});

describe('while the database does not take it', () => {
  it('every request is answered, a bounded number waits, and the rest is counted', async () => {
    const { apiKey } = await addPartner(api, 'caller', { rate: 100_000, burst: 100_000 });
    await ask(SNAPSHOTS, apiKey);
    const log = api.app.get(RequestLog);
    await eventually(() => log.written === 1);
    api.link.hold();
    const asked = 4000;
    const answers = await Promise.all(
      Array.from({ length: asked }, () => ask('/no/such/route', apiKey)),
    );
    expect(answers.every(({ status }) => status === 404)).toBe(true);
    expect(log.dropped).toBeGreaterThanOrEqual(asked - 2000);
    api.link.release();
    await ask('/after', apiKey);
    await stop();
    expect(log.written + log.dropped).toBe(asked + 2);
    const metrics = 'SELECT count(*)::int AS count FROM partners.request';
    const owner = await database.open();
    expect(await owner.query({ text: metrics })).toEqual([{ count: log.written }]);
  });

  it('what one key asks displaces no row of another partner', async () => {
    const quiet = await Promise.all(
      Array.from({ length: 10 }, (_, place) => addPartner(api, `quiet ${place}`)),
    );
    const flood = await addPartner(api, 'flood', { rate: 1, burst: 1 });
    const log = api.app.get(RequestLog);
    for (const { apiKey } of [...quiet, flood]) await ask('/first', apiKey);
    await eventually(() => log.written === 11);
    api.link.hold();
    const refused = () =>
      Promise.all(Array.from({ length: 1500 }, () => ask('/flood', flood.apiKey)));
    // What is being written may hold the first of these. The others fill the batch behind it.
    await refused();
    await refused();
    for (const { apiKey } of quiet) {
      for (const path of ['/a', '/b', '/c']) await ask(path, apiKey);
    }
    await refused();
    api.link.release();
    await stop();
    for (const place of quiet.keys()) {
      const paths = (await logged(`quiet ${place}`)).map(({ path }) => path);
      expect(paths).toEqual(['/first', '/a', '/b', '/c']);
    }
    expect(log.dropped).toBeGreaterThan(2000);
    expect(log.written + log.dropped).toBe(11 + 4500 + 30);
  });

  it('goes on when it does again, and says so once', async () => {
    const { apiKey } = await addPartner(api, 'caller');
    await ask(SNAPSHOTS, apiKey);
    const owner = await database.open();
    const [revoke, grant] = ['REVOKE', 'GRANT'].map((verb) => {
      const how = verb === 'GRANT' ? 'TO' : 'FROM';
      return `${verb} EXECUTE ON FUNCTION partners.note_requests ${how} lowmark_reader`;
    }) as [string, string];
    const log = api.app.get(RequestLog);
    await eventually(() => log.written === 1);
    await owner.query({ text: revoke });
    for (const path of ['/lost/1', '/lost/2']) {
      const { dropped } = log;
      expect((await ask(path, apiKey)).status).toBe(404);
      await eventually(() => log.dropped === dropped + 1);
    }
    await owner.query({ text: grant });
    await ask('/kept', apiKey);
    await stop();
    expect((await logged('caller')).map(({ path }) => path)).toEqual([SNAPSHOTS, '/kept']);
    expect(api.logs.filter((line) => line.includes('Requests are not logged'))).toHaveLength(1);
    expect(api.logs.join('')).not.toContain(apiKey);
  });
});
