import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { IndexStore } from '#libs/db';
import { freePort } from '#libs/devprocess';
import { eventually } from '#libs/testing/clock';
import { aWallet } from '#libs/testing/database';
import { addPartner, type Api, seedIndex, startApi } from '../testing/api-harness.support.js';
import { exchange, expectSigned } from '../testing/wire.support.js';

let api: Api;
let stopped = true;

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
  stopped = true;
});

it('a Redis that asks for no password is refused in production, with what to set', async () => {
  const settings = { NODE_ENV: 'production', REDIS_URL: 'redis://hunter2@127.0.0.1:1' };
  await expect(startApi(settings)).rejects.toMatchObject({
    code: 'DEVELOPMENT_SETTINGS',
    message: expect.stringMatching(/REDIS_URL: has no password.*redis:\/\/:PASSWORD@HOST/),
  });
});

describe('health and metrics', () => {
  it('cost the database one reading a second, however many ask', async () => {
    await start();
    const ready = () => request(api.url).get('/health/ready');
    await ready().expect(200);
    const before = api.link.packets;
    for (let i = 0; i < 30; i += 1) await ready().expect(200);
    expect(api.link.packets).toBe(before);
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

describe('health and metrics at a port of their own', () => {
  it('are not for callers, and go on until the service has ended', async () => {
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
    const closing = api.stop();
    stopped = true;
    await eventually(async () => (await request(url).get('/health/ready')).status === 503);
    await closing;
    await expect(request(url).get('/health/live')).rejects.toThrow('ECONNREFUSED');
  });
});

describe('shutdown', () => {
  const get = (key: string, connection: string): string =>
    `GET /api/staking/snapshots?walletAddress=${aWallet(1)} HTTP/1.1\r\nHost: a\r\nX-API-KEY: ${key}\r\nConnection: ${connection}\r\n\r\n`;

  it('lets an open request finish, signed, and takes no new connections', async () => {
    await start();
    const { apiKey, sharedSecret } = await addPartner(api, 'patient');
    await request(api.url).get('/nowhere').set('X-API-KEY', apiKey).expect(404);
    api.link.cut();
    const open = exchange(api.port, [get(apiKey, 'keep-alive')]);
    await new Promise((resolve) => setTimeout(resolve, 100));
    const closing = api.stop();
    stopped = true;
    await eventually(async () => (await connecting(api.port)) === 'ECONNREFUSED');
    api.link.resume();
    const [answer] = await open;
    expect(answer?.status).toBe(200);
    expect(answer?.headers['connection']).toBe('close');
    const expected = { method: 'GET', path: '/api/staking/snapshots', secret: sharedSecret };
    if (answer) expectSigned(answer, expected);
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
