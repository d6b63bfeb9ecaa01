/** HAProxy as docker-compose.yml starts it, with the addresses of this machine. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, ManagedProcess } from '#libs/devprocess';
import { haproxy } from '../../../libs/testing/src/jest/haproxy.mjs';

const START = 'deploy/haproxy/start.sh';
const GENEROUS_MS = 30_000;

export interface ProxyOptions {
  /** Of the name server. */
  readonly resolver: string;
  /** At which port all replicas of both services listen, for requests and for questions after their health. */
  readonly port: number;
  readonly trustedProxies?: string;
}

export class Proxy {
  private constructor(
    private readonly program: ManagedProcess,
    private readonly folder: string,
    /** Of the api's port. */
    readonly apiUrl: string,
    private readonly statusUrl: string,
  ) {}

  static async start({ resolver, port, trustedProxies = '' }: ProxyOptions): Promise<Proxy> {
    const folder = await mkdtemp(join(tmpdir(), 'lowmark-proxy-'));
    const [api, redemption, status] = [await freePort(), await freePort(), await freePort()];
    const program = await ManagedProcess.start({
      command: 'sh',
      args: [START],
      environment: {
        ...environmentOfHaproxy(),
        TRUSTED_PROXIES: trustedProxies,
        RESOLVER: resolver,
        API: `api:${port}`,
        API_MANAGEMENT_PORT: String(port),
        REDEMPTION: `redemption:${port}`,
        REDEMPTION_MANAGEMENT_PORT: String(port),
        LISTEN_API: `127.0.0.1:${api}`,
        LISTEN_REDEMPTION: `127.0.0.1:${redemption}`,
        LISTEN_STATUS: `127.0.0.1:${status}`,
        SOCKET: join(folder, 'haproxy.sock'),
      },
      logFile: join(folder, 'haproxy.log'),
    });
    const [apiUrl, statusUrl] = [`http://127.0.0.1:${api}`, `http://127.0.0.1:${status}`];
    const proxy = new Proxy(program, folder, apiUrl, statusUrl);
    await proxy.until(async () => (await fetch(`${statusUrl}/health`)).ok);
    return proxy;
  }

  /** Resolves when it sends requests to just these addresses. */
  async serves(addresses: readonly string[]): Promise<void> {
    await this.until(async () => {
      const rows = (await (await fetch(`${this.statusUrl}/;csv`)).text()).split('\n');
      // The same condition as in ./lowmark.
      const served = rows.flatMap(
        (row) => /^api,.*,UP,.*,L7OK,.*,([\d.]+):\d+,/.exec(row)?.[1] ?? [],
      );
      return served.sort().join() === [...addresses].sort().join();
    });
  }

  /** Reads configuration and certificates again, as `./lowmark restart proxy` lets it. */
  reload(): void {
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

/** Debian has it in a folder for administrators. */
export function environmentOfHaproxy(): Record<string, string> {
  const path = process.env['PATH'] ?? '';
  return { PATH: `${path}${delimiter}${dirname(haproxy() ?? '')}` };
}
