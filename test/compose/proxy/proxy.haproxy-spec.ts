/** deploy/haproxy in front of replicas that come and go, with the real HAProxy. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { freePort } from '#libs/devprocess';
import { createTestDatabase } from '#libs/testing';
import { ApiProgram } from '../../restarts/api-program.js';
import { SECRETS_KEY, serveIndex } from '../../restarts/served-index.js';
import { SnapshotLoad } from '../../restarts/snapshot-load.js';
import { NameServer } from './name-server.js';
import { environmentOfHaproxy, Proxy } from './proxy.js';

const [ONE, TWO, THREE] = ['127.0.0.2', '127.0.0.3', '127.0.0.4'] as const;
/** As in docker-compose.yml. */
const SHUTDOWN_DELAY_MS = 5000;
const FORGED = { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-host': 'forged.example' };

let names: NameServer;
let port: number;
let opened: (() => Promise<unknown>)[];
beforeEach(async () => {
  opened = [];
  names = await NameServer.start();
  opened.push(() => names.stop());
  port = await freePort();
});
afterEach(async () => {
  for (const close of opened.reverse()) await close();
});

async function startProxy(trustedProxies?: string): Promise<Proxy> {
  const options = { resolver: names.place, port, ...(trustedProxies && { trustedProxies }) };
  const proxy = await Proxy.start(options);
  opened.push(() => proxy.stop());
  return proxy;
}

interface Replica {
  readonly server: Server;
  readonly asked: IncomingHttpHeaders[];
}

/** What stands for a replica where only the proxy is looked at. @param isBroken it takes a request and hangs up */
async function startReplica(host: string, isBroken = false): Promise<Replica> {
  const asked: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    if (request.url === '/health/accepting') return response.end();
    asked.push(request.headers);
    return isBroken ? request.socket.destroy() : response.end('answered');
  });
  server.listen(port, host);
  await once(server, 'listening');
  opened.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return { server, asked };
}

/** 0 where the connection ended without an answer. */
async function statusOf(url: string, method: string): Promise<number> {
  const request = { method, ...(method === 'POST' && { body: '{}' }) };
  try {
    const answer = await fetch(url, request);
    await answer.text();
    return answer.status;
  } catch {
    return 0;
  }
}

it('is a valid configuration', () => {
  const checked = spawnSync('sh', ['deploy/haproxy/start.sh', '-c'], {
    env: environmentOfHaproxy(),
    encoding: 'utf8',
  });
  expect(checked.stderr + checked.stdout).toContain('Configuration file is valid');
  expect(checked.status).toBe(0);
});

describe('the address of a client', () => {
  it('is what the proxy sees, whatever the client says', async () => {
    const { asked } = await startReplica(ONE);
    names.addresses['api'] = [ONE];
    const proxy = await startProxy();
    await proxy.serves([ONE]);
    expect((await fetch(proxy.apiUrl, { headers: FORGED })).status).toBe(200);
    expect(asked).toHaveLength(1);
    expect(asked[0]?.['x-forwarded-for']).toBe('127.0.0.1');
    expect(asked[0]).not.toHaveProperty('x-forwarded-host');
  });

  it('is what a trusted proxy before it says', async () => {
    const { asked } = await startReplica(ONE);
    names.addresses['api'] = [ONE];
    const proxy = await startProxy('192.0.2.7,loopback');
    await proxy.serves([ONE]);
    await fetch(proxy.apiUrl, { headers: FORGED });
    expect(asked[0]?.['x-forwarded-for']).toBe('203.0.113.9, 127.0.0.1');
  });
});

describe('a request that a replica took and did not answer', () => {
  it.each(['GET', 'POST'])('is sent again only where it changes nothing: %s', async (method) => {
    const broken = await startReplica(ONE, true);
    const sound = await startReplica(TWO);
    names.addresses['api'] = [ONE, TWO];
    const proxy = await startProxy();
    await proxy.serves([ONE, TWO]);
    const statuses: number[] = [];
    for (let count = 0; count < 10; count++) {
      statuses.push(await statusOf(proxy.apiUrl, method));
    }
    const times = { broken: broken.asked.length, sound: sound.asked.length };
    if (method === 'GET') {
      expect(statuses).toEqual(Array(10).fill(200));
      expect(times.sound).toBe(10);
      expect(times.broken).toBeGreaterThan(0);
    } else {
      expect(statuses.filter((status) => status !== 200)).toHaveLength(times.broken);
      expect(times.broken + times.sound).toBe(10);
    }
  });
});

describe('replicas of the api', () => {
  it('are replaced one after the other while the proxy reloads, and no request is lost', async () => {
    const database = await createTestDatabase();
    opened.push(() => database.drop());
    const credential = await serveIndex(database.url);
    const start = async (host: string): Promise<ApiProgram> => {
      const program = await ApiProgram.start({
        databaseUrl: database.url,
        secretsKey: SECRETS_KEY,
        shutdownDelayMs: SHUTDOWN_DELAY_MS,
        host,
        port,
      });
      opened.push(() => program.kill());
      return program;
    };
    const before = [
      { host: ONE, program: await start(ONE) },
      { host: TWO, program: await start(TWO) },
    ];
    names.addresses['api'] = [ONE, TWO];
    const proxy = await startProxy();
    await proxy.serves([ONE, TWO]);
    const load = new SnapshotLoad(credential, () => proxy.apiUrl);
    await load.more(200, 100);
    let spare: string = THREE;
    for (const { host, program } of before) {
      // Found before it listens, as a container is.
      names.addresses['api'] = [ONE, TWO, THREE];
      await start(spare);
      await proxy.serves([ONE, TWO, THREE]);
      expect(await program.terminate()).toBe(0);
      names.addresses['api'] = [ONE, TWO, THREE].filter((address) => address !== host);
      await proxy.serves(names.addresses['api']);
      spare = host;
      await load.more(200, 100);
      proxy.reload();
      await load.more(200, 100);
    }
    await load.stop();
    expect([...load.answers.keys()]).toEqual([200]);
  }, 240_000);
});
