/** HAProxy as docker-compose.yml starts it, with addresses of this machine. */
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, ManagedProcess } from '#libs/devprocess';
import { programPath } from '../../../libs/testing/src/jest/programs.mjs';
import { type NameServer } from './name-server.js';

const START = 'deploy/haproxy/start.sh';
/** Starts the program of the second argument with the first one as its /etc/hosts. */
const WITH_HOSTS = 'mount --bind "$0" /etc/hosts && exec sh "$1"';
const HOSTS = 'hosts';
const GENEROUS_MS = 60_000;

export interface ProxyOptions {
  readonly names: NameServer;
  /** The port of all replicas of all services, for requests and for health checks. */
  readonly port: number;
  readonly trustedProxies?: string;
  /** TLS settings; `folder` (TLS_FOLDER) holds the certificate. */
  readonly tls?: { readonly folder: string; readonly consoleOrigin: string };
}

/** URLs of the proxy's entrances, each with a separate port. */
export interface Entrances {
  readonly api: string;
  readonly redemption: string;
  readonly console: string;
  readonly inner: string;
  readonly management: string;
  readonly tls: string;
}

export class Proxy {
  private constructor(
    private readonly program: ManagedProcess,
    private readonly folder: string,
    private readonly names: NameServer,
    readonly urls: Entrances & { readonly status: string },
  ) {}

  get apiUrl(): string {
    return this.urls.api;
  }

  static async start({ names, port, trustedProxies = '', tls }: ProxyOptions): Promise<Proxy> {
    const folder = await mkdtemp(join(tmpdir(), 'lowmark-proxy-'));
    const places: string[] = [];
    // The ports are requested one after the other, since concurrent requests may return the same free port.
    while (places.length < 7) places.push(`127.0.0.1:${await freePort()}`);
    const [api = '', redemption = '', pages = '', inner = '', byTls = ''] = places;
    const [management = '', status = ''] = places.slice(5);
    writeHosts(folder, names);
    const program = await ManagedProcess.start({
      command: 'unshare',
      args: [
        ...(process.getuid?.() === 0 ? [] : ['--map-root-user']),
        ...['--mount', 'sh', '-c', WITH_HOSTS, join(folder, HOSTS), START],
      ],
      environment: {
        ...environmentOfHaproxy(),
        TRUSTED_PROXIES: trustedProxies,
        RESOLVER: names.place,
        API: `api:${port}`,
        REDEMPTION: `redemption:${port}`,
        CONSOLE: `console:${port}`,
        MANAGEMENT_PORT: String(port),
        CONSOLE_ORIGIN: tls?.consoleOrigin,
        TLS_FOLDER: tls?.folder ?? folder,
        LISTEN_API: api,
        LISTEN_REDEMPTION: redemption,
        LISTEN_CONSOLE: pages,
        LISTEN_INNER: inner,
        LISTEN_MANAGEMENT: management,
        LISTEN_TLS: byTls,
        LISTEN_STATUS: status,
        SOCKET: join(folder, 'haproxy.sock'),
      },
      logFile: join(folder, 'haproxy.log'),
    });
    const urls = {
      api: `http://${api}`,
      redemption: `http://${redemption}`,
      console: `http://${pages}`,
      inner: `http://${inner}`,
      management: `http://${management}`,
      tls: `https://${byTls}`,
      status: `http://${status}`,
    };
    const proxy = new Proxy(program, folder, names, urls);
    await proxy.until(async () => (await fetch(`${urls.status}/health`)).ok);
    return proxy;
  }

  /** Resolves when the proxy sends requests for a service to exactly these addresses. */
  async serves(addresses: readonly string[], service = 'api'): Promise<void> {
    await this.until(async () => {
      const rows = (await (await fetch(`${this.urls.status}/;csv`)).text()).split('\n');
      // The same condition as in ./lowmark.
      const pattern = new RegExp(`^${service},.*,UP,.*,L7OK,.*,([\\d.]+):\\d+,`);
      const served = rows.flatMap((row) => pattern.exec(row)?.[1] ?? []);
      return served.sort().join() === [...addresses].sort().join();
    });
  }

  /** Makes the proxy reload its configuration and certificates, as `./lowmark restart proxy` does. */
  reload(): void {
    writeHosts(this.folder, this.names);
    if (this.program.pid !== undefined) process.kill(this.program.pid, 'SIGUSR2');
  }

  async stop(): Promise<void> {
    await this.program.stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  private async until(isSo: () => Promise<boolean>): Promise<void> {
    const deadline = Date.now() + GENEROUS_MS;
    while (!(await isSo().catch(() => false))) {
      if (!this.program.isRunning || Date.now() > deadline) {
        throw new Error(`haproxy:\n${(await this.program.tail()).join('\n')}`);
      }
      await sleep(50);
    }
  }
}

/**
 * The names as the system's resolver gives them, which HAProxy asks at its start and at a reload, before it takes
 * requests. In a container that is the same name server, so that a reloaded proxy knows its replicas from the first
 * request on.
 */
function writeHosts(folder: string, { addresses }: NameServer): void {
  const lines = Object.entries(addresses).flatMap(([name, all]) =>
    all.map((address) => `${address} ${name}\n`),
  );
  writeFileSync(join(folder, HOSTS), `127.0.0.1 localhost\n${lines.join('')}`);
}

/** Environment variables for HAProxy, which Debian installs in /usr/sbin. */
export function environmentOfHaproxy(): Record<string, string> {
  const path = process.env['PATH'] ?? '';
  // The default names are those of containers, which this machine cannot resolve. Without attempts, HAProxy does not
  // wait for each name.
  return {
    PATH: `${path}${delimiter}${dirname(programPath('haproxy') ?? '')}`,
    RES_OPTIONS: 'attempts:0',
  };
}
