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

const HOSTS = { api: ONE, redemption: TWO, console: THREE } as const;
type Service = keyof typeof HOSTS;

/** Starts a replica of each service, which answers with its name, or with its health, and the proxy. */
async function startServices(options: Pick<ProxyOptions, 'trustedProxies' | 'tls'> = {}) {
  const asked: Record<Service, IncomingHttpHeaders[]> = { api: [], redemption: [], console: [] };
  for (const [name, host] of Object.entries(HOSTS) as [Service, string][]) {
    await startReplica(host, ({ url, headers }, response) => {
      asked[name].push(headers);
      if (url === '/health/ready') response.writeHead(503).end(`${name} ${url}`);
      else response.end(name);
    });
    names.addresses[name] = [host];
  }
  const proxy = await startProxy(options);
  for (const [name, host] of Object.entries(HOSTS)) await proxy.serves([host], name);
  const agent = new Agent({ connect: { rejectUnauthorized: false } });
  opened.push(() => agent.close());
  /** @returns the answer's status and body */
  const get = async (url: string, headers: Record<string, string> = FORGED): Promise<string> => {
    const answer = await undici(url, { dispatcher: agent, headers });
    return `${answer.statusCode} ${await answer.body.text()}`;
  };
  const addressAt = (name: Service): unknown => asked[name].at(-1)?.['x-forwarded-for'];
  return { urls: proxy.urls, asked, get, addressAt };
}

describe('the entrances', () => {
  it('replace what clients say of their address, and keep what the console says of its users', async () => {
    const { urls, asked, get, addressAt } = await startServices();
    expect(await get(urls.api)).toBe('200 api');
    expect(addressAt('api')).toBe('127.0.0.1');
    expect(asked.api[0]).not.toHaveProperty('x-forwarded-host');
    expect(await get(`${urls.console}/redeem`)).toBe('200 console');
    expect(addressAt('console')).toBe('127.0.0.1');
    expect(await get(`${urls.inner}/api/redemptions`)).toBe('200 redemption');
    expect(addressAt('redemption')).toBe('203.0.113.9, 127.0.0.1');

    // The health of the others has an entrance of its own, by name, and nothing else is there.
    const ask = (host: string, path = '/health/ready') => get(urls.management + path, { host });
    expect(await ask('api.proxy:9000')).toBe('503 api /health/ready');
    expect(await ask('redemption.proxy:9000')).toBe('503 redemption /health/ready');
    expect(await ask('console.proxy:9000')).toMatch(/^503 .*SERVICE_UNAVAILABLE/);
    expect(await ask('api.proxy:9000', '/metrics')).toMatch(/^404/);
  });

  it('believe a trusted proxy before them about the address of a client', async () => {
    const { urls, get, addressAt } = await startServices({
      trustedProxies: '192.0.2.7,loopback',
    });
    await get(urls.api);
    expect(addressAt('api')).toBe('203.0.113.9, 127.0.0.1');
  });
});

describe('the entrance with TLS', () => {
  async function startBehindTls(trustedProxies: string) {
    const folder = await mkdtemp(join(tmpdir(), 'lowmark-certificate-'));
    opened.push(() => rm(folder, { recursive: true, force: true }));
    writeCertificate(join(folder, 'both.pem'));
    const tls = { folder, consoleOrigin: 'https://Pages.example.com:3443' };
    return startServices({ trustedProxies, tls });
  }

  it('believes no trusted network about the address of a client: containers can hide the source', async () => {
    const network = await startBehindTls('loopback,uniquelocal');
    await network.get(`${network.urls.tls}/api/staking/snapshots`);
    expect(network.addressAt('api')).toBe('127.0.0.1');
  });

  it('believes a proxy that is named by its address', async () => {
    const named = await startBehindTls('uniquelocal,127.0.0.1');
    await named.get(`${named.urls.tls}/api/staking/snapshots`);
    expect(named.addressAt('api')).toBe('203.0.113.9, 127.0.0.1');
  });

  it('leads to every documented route of a service and to the pages by their host, and to no other path', async () => {
    const { urls, get } = await startBehindTls('');
    const ask = (path: string, host = 'none.invalid') => get(urls.tls + path, { host, ...FORGED });
    for (const [service, path] of DOCUMENTED) {
      expect([path, await ask(path)]).toEqual([path, `200 ${service}`]);
    }
    for (const path of ['/health/ready', '/docs', '/api/operate/partners']) {
      expect([path, await ask(path)]).toEqual([path, expect.stringMatching(/^404 /)]);
    }
    for (const host of ['pages.example.com', 'PAGES.example.com:3443']) {
      for (const path of ['/', '/redeem', '/api/auth/me', '/player/api/redemptions']) {
        expect(await ask(path, host)).toBe('200 console');
      }
    }
    for (const host of ['api.example.com', 'pages.example.com.evil.example', 'none.invalid']) {
      expect(await ask('/api/staking/snapshots', host)).toBe('200 api');
      expect(await ask('/api/auth/nonce', host)).toBe('200 redemption');
      for (const path of ['/', '/redeem', '/metrics']) {
        expect(await ask(path, host)).toMatch(/^404 /);
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
