import { type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type BeforeApplicationShutdown,
  type OnApplicationShutdown,
  type OnModuleDestroy,
} from '@nestjs/common';
import { type HealthRegistry } from '../health/health.registry.js';

export interface HttpShutdownOptions {
  /** Nest's `HttpAdapterHost`. */
  readonly host: { readonly httpAdapter: { getHttpServer(): unknown } };
  /** Called first: readiness fails from this call on, while requests are still answered. */
  readonly stopping: () => void;
  readonly health: Pick<HealthRegistry, 'hasLoadBalancer'>;
  /** Resources, closed in this order after the last answer. */
  readonly opened: readonly ({ close(): Promise<void> | void } | undefined)[];
}

/** Time for a load balancer to notice that the service is not ready: several checks of HAProxy (deploy/haproxy). */
const NOTICED_MS = 5_000;
/** Time after which connections with unanswered requests are closed. */
const LAST_MS = 8_000;
const LOOK_MS = 50;

/**
 * Stops an HTTP service in order: it becomes not ready; it goes on until a load balancer, if there is one, has noticed;
 * it takes no new connections and finishes open requests (Nest closes the server between the last two hooks); then it
 * closes the resources that it opened.
 */
export class HttpShutdown
  implements OnModuleDestroy, BeforeApplicationShutdown, OnApplicationShutdown
{
  private readonly timers: NodeJS.Timeout[] = [];

  constructor(private readonly parts: HttpShutdownOptions) {}

  /** Nest calls this hook before the other shutdown hooks, so no part that stops slowly delays it. */
  onModuleDestroy(): void {
    this.parts.stopping();
    // `connection: close` keeps the client from sending its next request on a connection that is about to close.
    this.server.prependListener('request', (_: IncomingMessage, response: ServerResponse) => {
      response.shouldKeepAlive = false;
    });
  }

  async beforeApplicationShutdown(): Promise<void> {
    if (this.parts.health.hasLoadBalancer) await sleep(NOTICED_MS);
    const { server } = this;
    const closeIdle = (): void => {
      server.closeIdleConnections();
    };
    // A closing server does not enforce request timeouts any more: an incomplete request would keep it open.
    const cut = setTimeout(() => {
      server.closeAllConnections();
    }, LAST_MS);
    this.timers.push(setInterval(closeIdle, LOOK_MS).unref(), cut.unref());
  }

  /** @throws the first error, after all resources were closed */
  async onApplicationShutdown(): Promise<void> {
    for (const timer of this.timers) clearTimeout(timer);
    const errors: unknown[] = [];
    for (const one of this.parts.opened) {
      try {
        await one?.close();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }

  private get server(): Server {
    return this.parts.host.httpAdapter.getHttpServer() as Server;
  }
}
