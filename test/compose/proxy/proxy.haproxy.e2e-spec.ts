/** Tests deploy/haproxy with the real HAProxy, in front of replicas that start and stop. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, readFileSync, unlinkSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import {
  createServer,
  type IncomingHttpHeaders,
  type RequestListener,
  type Server,
} from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Agent, request as undici } from 'undici';
import { freePort } from '#libs/devprocess';
import { createTestDatabase } from '#libs/testing/database';
import { ApiProgram } from '../../restarts/api-program.js';
import { SECRETS_KEY, serveIndex } from '../../restarts/served-index.js';
import { SnapshotLoad } from '../../restarts/snapshot-load.js';
import { NameServer } from './name-server.js';
import { environmentOfHaproxy, Proxy, type ProxyOptions } from './proxy.js';

const [ONE, TWO, THREE] = ['127.0.0.2', '127.0.0.3', '127.0.0.4'] as const;
const FORGED = { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-host': 'forged.example' };

/** The routes of the services' stored OpenAPI documents. */
const DOCUMENTED = (
  [
    ['api', 'docs/wire/openapi.json'],
    ['redemption', 'docs/wire/redemption-openapi.json'],
  ] as const
).flatMap(([service, file]) => {
  const { paths } = JSON.parse(readFileSync(file, 'utf8')) as { paths: Record<string, unknown> };
  return Object.keys(paths).map((path) => [service, path.replaceAll(/[{}]/g, '')] as const);
});

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

async function startProxy(more: Pick<ProxyOptions, 'trustedProxies' | 'tls'> = {}): Promise<Proxy> {
  const options = { names, port, ...more };
  const proxy = await Proxy.start(options);
  opened.push(() => proxy.stop());
  return proxy;
}

interface Replica {
  readonly server: Server;
  readonly asked: IncomingHttpHeaders[];
}

/** Starts a stand-in for a replica, for tests of the proxy alone. */
async function startReplica(
  host: string,
  answer: RequestListener = (_, response) => response.end('answered'),
): Promise<Replica> {
  const asked: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    if (request.url === '/health/accepting') {
      response.end();
      return;
    }
    asked.push(request.headers);
    answer(request, response);
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

/** @returns the status; 0 where the connection ended without an answer */
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
    const proxy = await startProxy({ trustedProxies: '192.0.2.7,loopback' });
    await proxy.serves([ONE]);
    await fetch(proxy.apiUrl, { headers: FORGED });
    expect(asked[0]?.['x-forwarded-for']).toBe('203.0.113.9, 127.0.0.1');
  });
});

describe('a client who comes by TLS', () => {
  const SERVICES = { api: ONE, redemption: TWO } as const;

  /** Starts a replica of each service. @returns how to ask by TLS, and the headers that the replicas got */
  async function startBehindTls(trustedProxies: string) {
    const folder = await mkdtemp(join(tmpdir(), 'lowmark-certificate-'));
    opened.push(() => rm(folder, { recursive: true, force: true }));
    writeCertificate(join(folder, 'both.pem'));
    const asked: IncomingHttpHeaders[] = [];
    for (const [service, host] of Object.entries(SERVICES)) {
      await startReplica(host, (request, response) => {
        asked.push(request.headers);
        response.end(service);
      });
      names.addresses[service] = [host];
    }
    const tls = { folder, consoleOrigin: 'https://pages.example.com:3443' };
    const proxy = await startProxy({ trustedProxies, tls });
    for (const [service, host] of Object.entries(SERVICES)) await proxy.serves([host], service);
    const agent = new Agent({ connect: { rejectUnauthorized: false } });
    opened.push(() => agent.close());
    const get = async (path: string): Promise<string | number> => {
      const url = `${proxy.urls.tls}${path}`;
      const { statusCode, body } = await undici(url, { dispatcher: agent, headers: FORGED });
      const text = await body.text();
      return statusCode === 200 ? text : statusCode;
    };
    return { get, asked };
  }

  async function addressSeenWith(trustedProxies: string): Promise<unknown> {
    const { get, asked } = await startBehindTls(trustedProxies);
    await get('/api/staking/snapshots');
    return asked[0]?.['x-forwarded-for'];
  }

  it('has the address that the proxy sees, though its network is trusted: containers can hide the source', async () => {
    expect(await addressSeenWith('loopback,uniquelocal')).toBe('127.0.0.1');
  });

  it('has the address that a proxy says which is named by its address', async () => {
    expect(await addressSeenWith('uniquelocal,127.0.0.1')).toBe('203.0.113.9, 127.0.0.1');
  });

  it('reaches every documented route of a service, and no other', async () => {
    const { get } = await startBehindTls('');
    const reached = await Promise.all(
      DOCUMENTED.map(async ([service, path]) => [service, path, await get(path)]),
    );
    expect(reached).toEqual(DOCUMENTED.map(([service, path]) => [service, path, service]));
    for (const path of ['/', '/metrics', '/health/ready', '/docs', '/api/operate/partners']) {
      expect([path, await get(path)]).toEqual([path, 404]);
    }
  });
});

describe('the web pages', () => {
  const [PAGES, PLAYERS] = [ONE, TWO];

  it('have an entrance of their own, and the console another one to the redemption service', async () => {
    const pages = await startReplica(PAGES);
    const players = await startReplica(PLAYERS);
    Object.assign(names.addresses, { console: [PAGES], redemption: [PLAYERS] });
    const proxy = await startProxy();
    await proxy.serves([PAGES], 'console');
    await proxy.serves([PLAYERS], 'redemption');
    for (const url of [`${proxy.urls.console}/redeem`, `${proxy.urls.inner}/api/redemptions`]) {
      expect((await fetch(url, { headers: FORGED })).status).toBe(200);
    }
    // The proxy replaces headers of browsers, and keeps those of the console, which asks on behalf of its users.
    expect(pages.asked.map((headers) => headers['x-forwarded-for'])).toEqual(['127.0.0.1']);
    expect(players.asked.map((headers) => headers['x-forwarded-for'])).toEqual([
      '203.0.113.9, 127.0.0.1',
    ]);
  });

  it('have the health of the others at an entrance of its own, by name, and nothing else there', async () => {
    const named = async (host: string, body: string) =>
      startReplica(host, ({ url }, response) => response.writeHead(503).end(`${body} ${url}`));
    await Promise.all([named(ONE, 'api'), named(TWO, 'redemption'), named(THREE, 'console')]);
    Object.assign(names.addresses, { api: [ONE], redemption: [TWO], console: [THREE] });
    const proxy = await startProxy();
    await proxy.serves([ONE]);
    await proxy.serves([TWO], 'redemption');
    const ask = async (host: string, path = '/health/ready'): Promise<string> => {
      const answer = await undici(proxy.urls.management + path, { headers: { host } });
      return `${answer.statusCode} ${await answer.body.text()}`;
    };
    expect(await ask('api.proxy:9000')).toBe('503 api /health/ready');
    expect(await ask('redemption.proxy:9000')).toBe('503 redemption /health/ready');
    expect(await ask('console.proxy:9000')).toMatch(/^503 .*SERVICE_UNAVAILABLE/);
    expect(await ask('api.proxy:9000', '/metrics')).toMatch(/^404/);
  });

  it('are found by their host where there is TLS, and no other path of the services is', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'lowmark-certificate-'));
    opened.push(() => rm(folder, { recursive: true, force: true }));
    writeCertificate(join(folder, 'both.pem'));
    const named = async (host: string, body: string) =>
      startReplica(host, (_, response) => response.end(body));
    await Promise.all([named(ONE, 'console'), named(TWO, 'redemption'), named(THREE, 'api')]);
    Object.assign(names.addresses, { console: [ONE], redemption: [TWO], api: [THREE] });
    const tls = { folder, consoleOrigin: 'https://Pages.example.com:3443' };
    const proxy = await startProxy({ tls });
    await proxy.serves([ONE], 'console');
    await proxy.serves([TWO], 'redemption');
    await proxy.serves([THREE]);
    const agent = new Agent({ connect: { rejectUnauthorized: false } });
    opened.push(() => agent.close());
    const answerOf = async (host: string, path: string): Promise<string> => {
      const answer = await undici(`${proxy.urls.tls}${path}`, {
        dispatcher: agent,
        headers: { host },
      });
      const text = await answer.body.text();
      return answer.statusCode === 200 ? text : String(answer.statusCode);
    };
    for (const host of ['pages.example.com', 'PAGES.example.com:3443']) {
      for (const path of ['/', '/redeem', '/api/auth/me', '/player/api/redemptions']) {
        expect(await answerOf(host, path)).toBe('console');
      }
    }
    for (const host of ['api.example.com', 'pages.example.com.evil.example', 'none.invalid']) {
      expect(await answerOf(host, '/api/staking/snapshots')).toBe('api');
      expect(await answerOf(host, '/api/auth/nonce')).toBe('redemption');
      for (const path of ['/', '/redeem', '/metrics']) {
        expect(await answerOf(host, path)).toBe('404');
      }
    }
  });
});

/** Writes a self-signed certificate for a name that no test requests. */
function writeCertificate(path: string): void {
  const made = spawnSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
      ...['-days', '2', '-subj', '/CN=example.com', '-keyout', path, '-out', `${path}.crt`],
    ],
    { encoding: 'utf8' },
  );
  if (made.status !== 0) throw new Error(made.stderr);
  appendFileSync(path, readFileSync(`${path}.crt`));
  unlinkSync(`${path}.crt`);
}

describe('a request that a replica took and did not answer', () => {
  it.each(['GET', 'POST'])('is sent again only where it changes nothing: %s', async (method) => {
    const broken = await startReplica(ONE, (request) => request.socket.destroy());
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
      // The name server lists the new replica before it listens, as with containers.
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
