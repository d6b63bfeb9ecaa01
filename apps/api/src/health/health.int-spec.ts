import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { IndexStore } from '#libs/db';
import { freePort } from '#libs/devprocess';
import { eventually } from '#libs/testing/clock';
import { aWallet } from '#libs/testing/database';
import {
  addPartner,
  ANON_SECRET,
  type Api,
  seedIndex,
  startApi,
} from '../testing/api-harness.support.js';
import { exchange, expectSigned } from '../testing/wire.support.js';

let api: Api;
let stopped = false;

async function start(overrides: Record<string, string> = {}): Promise<void> {
  stopped = false;
  api = await startApi(overrides);
  const events: [string, ReturnType<typeof aWallet>, number][] = [
    ['2026-11-10T10:00:00Z', aWallet(1), 1],
  ];
  await seedIndex(api, { events, headAt: '2026-11-21T12:00:00Z' });
}
afterEach(async () => {
  if (!stopped) await api.stop();
});

describe('health and metrics', () => {
  it('are signed like everything else', async () => {
    await start();
    for (const path of ['/health/live', '/health/ready', '/metrics']) {
      const answer = await request(api.url).get(path).expect(200);
      expectSigned(answer, { method: 'GET', path, secret: ANON_SECRET });
      expect(answer.headers['x-ratelimit-remaining']).toBe('100');
    }
  });

  it('tell how far the index is', async () => {
    await start();
    const { body } = await request(api.url).get('/health/ready').expect(200);
    expect(body.checks.index.details).toEqual({ block: '1000', lagSeconds: 2 });
  });

  it('cost the database one reading a second, however many ask', async () => {
    await start();
    const ready = () => request(api.url).get('/health/ready');
    await ready().expect(200);
    const before = api.link.packets();
    for (let i = 0; i < 30; i += 1) await ready().expect(200);
    expect(api.link.packets()).toBe(before);
    const index = new IndexStore(await api.database.open());
    await index.halt(await index.takeLead(), 'a reason for operators');
    await ready().expect(200);
    api.clock.advance(1000);
    await ready().expect(503);
  });

  it('count answers by route, and made-up paths under one name', async () => {
    await start();
    await request(api.url).get('/made/up').expect(404);
    await request(api.url).get('/api/staking/snapshots').expect(401);
    const { text } = await request(api.url).get('/metrics').expect(200);
    expect(text).toMatch(
      /lowmark_api_request_seconds_count\{.*route="\/api\/staking\/snapshots".*\} 1/,
    );
    expect(text).not.toContain('made');
    expect(text).toMatch(/lowmark_database_connections\{state="waiting",app="api"\} 0/);
  });
});

describe('a request', () => {
  const ask = (id: string, apiKey = '') =>
    request(api.url)
      .get('/api/staking/snapshots')
      .query({ walletAddress: aWallet(1) })
      .set('X-API-KEY', apiKey)
      .set('X-Request-Id', id);

  it('that fails has its id in the log', async () => {
    await start();
    const { apiKey } = await addPartner(api, 'named');
    const database = await api.database.open();
    await database.pool.query('DROP TABLE staking.balance_day');
    await ask('mine-2', apiKey).expect(500);
    const lines = api.logs.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.filter(({ requestId }) => requestId !== undefined)).toMatchObject([
      { msg: 'A request failed', requestId: 'mine-2' },
    ]);
  });
});

describe('health and metrics at a port of their own', () => {
  it('are not for callers, and end with the service', async () => {
    const port = await freePort();
    await start({ MANAGEMENT_PORT: String(port), LISTEN_HOST: '127.0.0.1' });
    const url = `http://127.0.0.1:${port}`;
    for (const path of ['/health/live', '/health/ready', '/health/accepting', '/metrics']) {
      await request(url).get(path).expect(200);
      // On the public port these paths are unknown routes, as a caller with a key sees.
      const { apiKey } = await addPartner(api, `caller of ${path}`);
      await request(api.url).get(path).set('X-API-KEY', apiKey).expect(404);
    }
    const { text } = await request(url).get('/metrics');
    expect(text).toContain('lowmark_api_request_seconds_count');
    expect((await request(url).get('/health/ready')).body.checks.index.details).toBeDefined();
    await request(url).get('/api/staking/snapshots').expect(404);
    await request(url).post('/metrics').expect(405);
    await api.stop();
    stopped = true;
    await expect(request(url).get('/health/live')).rejects.toThrow('ECONNREFUSED');
  });

  it('say that the service is about to stop for as long as it still answers', async () => {
    const port = await freePort();
    const management = { MANAGEMENT_PORT: String(port), LISTEN_HOST: '127.0.0.1' };
    await start(management);
    await request(`http://127.0.0.1:${port}`).get('/health/accepting').expect(200);
    const closing = api.stop();
    stopped = true;
    await eventually(async () => {
      const { status } = await request(`http://127.0.0.1:${port}`).get('/health/ready');
      return status === 503;
    });
    await closing;
  });
});

describe('shutdown', () => {
  const get = (key: string, connection: string): string =>
    `GET /api/staking/snapshots?walletAddress=${aWallet(1)} HTTP/1.1\r\nHost: a\r\nX-API-KEY: ${key}\r\nConnection: ${connection}\r\n\r\n`;

  it('lets an open request finish, signed, and takes no new connections', async () => {
    await start();
    const { apiKey, sharedSecret } = await addPartner(api, 'patient');
    await request(api.url).get('/nowhere').set('X-API-KEY', apiKey).expect(404);
    api.link.hold();
    const open = exchange(api.port, [get(apiKey, 'keep-alive')]);
    await new Promise((resolve) => setTimeout(resolve, 100));
    const closing = api.stop();
    stopped = true;
    await eventually(async () => (await connecting(api.port)) === 'ECONNREFUSED');
    api.link.release();
    const [answer] = await open;
    expect(answer?.status).toBe(200);
    expect(answer?.headers['connection']).toBe('close');
    const expected = { method: 'GET', path: '/api/staking/snapshots', secret: sharedSecret };
    if (answer) expectSigned(answer, expected);
    await closing;
  });

  it('says that it is not ready first, and goes on serving until a load balancer has noticed', async () => {
    await start();
    await request(api.url).get('/health/accepting').expect(200);
    await request(api.url).get('/health/ready').expect(200);
    const closing = api.stop();
    stopped = true;
    const ready = () => request(api.url).get('/health/ready');
    await eventually(async () => (await ready()).status === 503);
    const { body } = await ready();
    expect(body.reasons).toEqual(['process: is shutting down']);
    await request(api.url).get('/health/live').expect(200);
    await closing;
  });
});

/** @returns the error code of the attempt, or undefined where the port accepts the connection */
async function connecting(port: number): Promise<string | undefined> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  } finally {
    socket.destroy();
  }
}
