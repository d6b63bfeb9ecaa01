import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { IndexStore } from '#libs/db';
import { freePort } from '#libs/devprocess';
import { eventually } from '#libs/testing/clock';
import { aWallet } from '#libs/testing/database';
import { addPartner, type Api, seedIndex, startApi } from '../testing/api-harness.support.js';
import { exchange, expectSigned } from '../testing/wire.support.js';

let api: Api;
let managed: string;
let stopping: Promise<void> | undefined;

beforeEach(async () => {
  const port = await freePort();
  managed = `http://127.0.0.1:${port}`;
  api = await startApi({ MANAGEMENT_PORT: String(port), LISTEN_HOST: '127.0.0.1' });
  stopping = undefined;
  await seedIndex(api);
});
afterEach(() => stopping ?? api.stop());

const statusAt = async (path: string, options: RequestInit = {}): Promise<number> =>
  (await fetch(managed + path, options)).status;

it('a Redis that asks for no password is refused in production, with what to set', async () => {
  const settings = { NODE_ENV: 'production', REDIS_URL: 'redis://hunter2@127.0.0.1:1' };
  await expect(startApi(settings)).rejects.toMatchObject({
    code: 'DEVELOPMENT_SETTINGS',
    message: expect.stringMatching(/REDIS_URL: has no password.*redis:\/\/:PASSWORD@HOST/),
  });
});

describe('health and metrics', () => {
  it('cost the database one reading a second, however many ask', async () => {
    expect(await statusAt('/health/ready')).toBe(200);
    const before = api.link.packets;
    for (let i = 0; i < 30; i += 1) expect(await statusAt('/health/ready')).toBe(200);
    expect(api.link.packets).toBe(before);
    const index = new IndexStore(await api.database.open());
    await index.halt(await index.takeLead(), 'a reason for operators');
    expect(await statusAt('/health/ready')).toBe(200);
    api.clock.advance(1000);
    expect(await statusAt('/health/ready')).toBe(503);
  });

  it('count answers by route, and made-up paths under one name', async () => {
    for (const path of ['/made/up', '/api/staking/snapshots']) await api.as().ask(path);
    const text = await (await fetch(`${managed}/metrics`)).text();
    expect(text).toMatch(
      /lowmark_api_request_seconds_count\{.*route="\/api\/staking\/snapshots".*\} 1/,
    );
    expect(text).not.toContain('made');
    expect(text).toMatch(/lowmark_database_connections\{state="waiting",app="api"\} 0/);
  });

  it('at a port of their own are not for callers, and go on until the service has ended', async () => {
    const caller = api.as(await addPartner(api, 'caller'));
    for (const path of ['/health/live', '/health/ready', '/health/accepting', '/metrics']) {
      // On the public port these paths are unknown routes, as a caller with a key sees.
      expect([path, await statusAt(path), (await caller.ask(path)).status]).toEqual([
        ...[path, 200, 404],
      ]);
    }
    expect(await statusAt('/api/staking/snapshots')).toBe(404);
    expect(await statusAt('/metrics', { method: 'POST' })).toBe(405);
    stopping = api.stop();
    await eventually(async () => (await statusAt('/health/ready')) === 503);
    await stopping;
    await expect(statusAt('/health/live')).rejects.toMatchObject({
      cause: { code: 'ECONNREFUSED' },
    });
  });
});

it('shutdown lets an open request finish, signed, and takes no new connections', async () => {
  const { apiKey, sharedSecret } = await addPartner(api, 'patient');
  await api.as({ apiKey, sharedSecret }).ask('/nowhere');
  api.link.cut();
  const path = '/api/staking/snapshots';
  const head = `GET ${path}?walletAddress=${aWallet(1)} HTTP/1.1\r\nHost: a\r\nX-API-KEY: ${apiKey}\r\nConnection: keep-alive\r\n\r\n`;
  const open = exchange(api.port, [head]);
  await new Promise((resolve) => setTimeout(resolve, 100));
  stopping = api.stop();
  await eventually(async () => (await connecting(api.port)) === 'ECONNREFUSED');
  api.link.resume();
  const [answer] = await open;
  if (answer === undefined) throw new Error('no answer');
  expect(answer).toMatchObject({ status: 200, headers: { connection: 'close' } });
  expectSigned(answer, { method: 'GET', path, secret: sharedSecret });
  await stopping;
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
