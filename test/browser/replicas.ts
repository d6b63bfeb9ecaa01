/**
 * Two replicas of each service behind the proxy of docker-compose.yml, which sends them the requests by turns. Only the
 * proxy and the addresses are here; a test starts the services.
 */
import { type Place } from '../../apps/console/src/testing/console-harness.support.js';
import { freePort } from '#libs/devprocess';
import { NameServer } from '../compose/proxy/name-server.js';
import { Proxy } from '../compose/proxy/proxy.js';

const HOSTS = {
  console: ['127.0.0.2', '127.0.0.3'],
  redemption: ['127.0.0.4', '127.0.0.5'],
} as const;

export class Replicas {
  readonly console: Place;
  readonly redemption: Place;

  private constructor(
    private readonly names: NameServer,
    private readonly proxy: Proxy,
    port: number,
  ) {
    this.console = { origin: proxy.urls.console, hosts: HOSTS.console, port };
    this.redemption = { origin: proxy.urls.inner, hosts: HOSTS.redemption, port };
  }

  static async start(): Promise<Replicas> {
    const names = await NameServer.start();
    const port = await freePort();
    // Lets a test give each browser a separate address by `X-Forwarded-For`.
    const proxy = await Proxy.start({ names, port, trustedProxies: '127.0.0.1' });
    return new Replicas(names, proxy, port);
  }

  /** Waits until the proxy sends requests to all replicas of a service that was started. */
  async serve(service: keyof typeof HOSTS): Promise<void> {
    this.names.addresses[service] = HOSTS[service];
    await this.proxy.serves(HOSTS[service], service);
  }

  async stop(): Promise<void> {
    await this.proxy.stop();
    await this.names.stop();
  }
}
