/** Tests TLS at the proxy on a real engine: docs/operating/compose.md#the-proxy. */
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { connect as connectHttp } from 'node:net';
import { dirname, join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Agent, request } from 'undici';
import { StakingClient } from '#libs/partner-sdk';
import type { Clone } from './installation/clone.js';
import {
  configure,
  containersOf,
  emptyInstallation,
  type Installation,
  Notes,
  removeInstallation,
  startTrial,
} from './installation/installation.js';
import { type Credential, Load } from './installation/load.js';

const HOSTS = { services: 'api.example', pages: 'pages.example' };
/** User id of the proxy. */
const PROXY_USER = 99;
const RENEWALS = 5;
/** More requests than one address may send at once. */
const MANY = 150;

describe('the proxy with a certificate', () => {
  let installation: Installation;
  let clone: Clone;
  let folder = '';
  let notes: Notes;
  let wallet = '';
  let credential: Credential;
  let load: Load;
  /** Accepts every certificate, and resolves every host to this machine. */
  const dispatcher = new Agent({
    connect: {
      rejectUnauthorized: false,
      lookup: (_name, _options, found) => {
        found(null, [{ address: '127.0.0.1', family: 4 }]);
      },
    },
  });

  const urlOf = (host: string): string => `https://${host}:${installation.tlsPort}`;
  const statusOf = async (url: string, headers = {}): Promise<number> => {
    const answer = await request(url, { dispatcher, headers });
    await answer.body.dump();
    return answer.statusCode;
  };

  function writeCertificate(): void {
    const [key, certificate] = [join(folder, '../key'), join(folder, '../certificate')];
    const names = `subjectAltName=DNS:${HOSTS.services},DNS:${HOSTS.pages}`;
    const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '30'];
    const files = ['-keyout', key, '-out', certificate];
    const words = ['req', '-x509', ...kind, '-subj', '/CN=Lowmark', '-addext', names, ...files];
    execFileSync('openssl', words, { stdio: 'ignore' });
    const pem = execFileSync('cat', [certificate, key]);
    const path = join(folder, 'lowmark.pem');
    writeFileSync(path, pem);
    chmodSync(path, 0o400);
    chownSync(path, PROXY_USER, PROXY_USER);
  }

  /** The serial number of the certificate that a new connection gets; undefined where there is no TLS. */
  function serial(): Promise<string | undefined> {
    return new Promise((resolve) => {
      const options = { servername: HOSTS.services, rejectUnauthorized: false };
      const socket = connect(installation.tlsPort, '127.0.0.1', options, () => {
        resolve(socket.getPeerCertificate().serialNumber);
        socket.destroy();
      });
      socket.once('error', () => {
        resolve(undefined);
      });
    });
  }

  beforeAll(async () => {
    notes = new Notes();
    installation = await emptyInstallation();
    ({ clone } = installation);
    folder = join(dirname(clone.folder), 'tls');
    mkdirSync(folder);
    wallet = await startTrial(installation);
    await configure(installation);
    const origin = `CONSOLE_ORIGIN=${urlOf(HOSTS.pages)}`;
    clone.write('.env', `${clone.read('.env')}TLS_DIR=${folder}\n${origin}\n`);
    await clone.lowmark('up');
    const options = '--name Arena --rate 1000 --burst 20000 --json';
    credential = JSON.parse(await clone.lowmark(`cli partner create ${options}`)) as Credential;
    const { apiUrl: baseUrl } = installation;
    const client = new StakingClient({ baseUrl, ...credential, retries: 60, timeoutMs: 120_000 });
    await client.snapshots(wallet);
    notes.write('it runs, without a certificate');
  });

  afterAll(async () => {
    await (load as Load | undefined)?.stop();
    await dispatcher.close();
    await removeInstallation(installation);
  });

  it('begins with TLS once there is one', async () => {
    expect(await serial()).toBeUndefined();
    writeCertificate();
    // An idle connection as browsers leave it. The old proxy process would wait a minute for it.
    const idle = connectHttp(Number(new URL(installation.apiUrl).port), '127.0.0.1');
    idle.on('error', () => undefined);
    idle.write('GET /api/nothing HTTP/1.1\r\nhost: api.example\r\n\r\n');
    await once(idle, 'data');
    const startedMs = performance.now();
    await clone.lowmark('restart proxy');
    notes.write(`the first certificate: ${Math.round(performance.now() - startedMs)} ms`);
    idle.destroy();
    expect(await serial()).toMatch(/^[0-9A-F]+$/);
  });

  it('passes on the routes of callers by one name and the pages by the other, and nothing else', async () => {
    const key = { 'x-api-key': credential.apiKey };
    const snapshot = `/api/staking/snapshots?walletAddress=${wallet}`;
    expect(await statusOf(urlOf(HOSTS.services) + snapshot, key)).toBe(200);
    expect(await statusOf(`${urlOf(HOSTS.services)}/api/chain`)).toBe(200);
    expect(await statusOf(`${urlOf(HOSTS.pages)}/redeem`)).toBe(200);
    for (const path of ['/', '/redeem', '/metrics', '/health/ready']) {
      expect(await statusOf(urlOf(HOSTS.services) + path)).toBe(404);
    }
    const { headers, body } = await request(`${urlOf(HOSTS.pages)}/redeem`, { dispatcher });
    await body.dump();
    expect(headers['strict-transport-security']).toContain('max-age=');
  });

  it('answers no plain HTTP where it has TLS', async () => {
    await expect(request(`http://127.0.0.1:${installation.tlsPort}/api/chain`)).rejects.toThrow();
  });

  it('renews it without a lost request', async () => {
    const [api, pages] = [urlOf(HOSTS.services), urlOf(HOSTS.pages)];
    const urls = { apiUrl: api, redemptionUrl: api, pagesUrl: pages };
    load = new Load({ ...urls, wallet, credential, dispatcher });
    await load.until(100);
    const proxy = await containersOf(clone, ['proxy']);
    const serials = new Set([await serial()]);
    for (let count = 1; count <= RENEWALS; count++) {
      load.during = `renewal ${count}`;
      writeCertificate();
      await clone.lowmark('restart proxy');
      await load.until(load.snapshots + 200);
      serials.add(await serial());
    }
    await load.stop();
    notes.write(`${RENEWALS} renewals: ${load.figures()}`);
    expect([...load.bad]).toEqual([]);
    expect(serials.size).toBe(RENEWALS + 1);
    expect(await containersOf(clone, ['proxy'])).toEqual(proxy);
  });

  /** Sends many requests, each with another client address in its header. @returns the distinct statuses */
  async function nonces(): Promise<number[]> {
    const statuses = new Set<number>();
    for (let count = 0; count < MANY; count++) {
      const { statusCode, body } = await request(`${urlOf(HOSTS.services)}/api/auth/nonce`, {
        method: 'POST',
        dispatcher,
        headers: {
          'content-type': 'application/json',
          'x-forwarded-for': `203.0.113.${count}`,
        },
        body: '{}',
      });
      await body.dump();
      statuses.add(statusCode);
    }
    return [...statuses].sort();
  }

  it('believes X-Forwarded-For of TRUSTED_PROXIES alone', async () => {
    expect(await nonces()).toEqual([200, 429]);
    clone.write(
      '.env',
      `${clone.read('.env')}TRUSTED_PROXIES=10.0.0.0/8,172.16.0.0/12,192.168.0.0/16\n`,
    );
    const startedMs = performance.now();
    await clone.lowmark('up');
    notes.write(
      `./lowmark up with TRUSTED_PROXIES: ${Math.round(performance.now() - startedMs)} ms`,
    );
    expect(await nonces()).toEqual([200]);
  });
});
