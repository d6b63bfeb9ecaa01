import { type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type BeforeApplicationShutdown,
  type OnApplicationShutdown,
  type OnModuleDestroy,
} from '@nestjs/common';

export interface HttpShutdownOptions {
  /** Nest's `HttpAdapterHost`. */
  readonly host: { readonly httpAdapter: { getHttpServer(): unknown } };
  /** Called first of all: from then on not ready, though requests are still answered. */
  readonly stopping: () => void;
  /** How long load balancers may take to notice. */
  readonly delayMs: number;
  /** Answers that go on until they are ended: closed after the delay, when their clients find another process. */
  readonly streams?: { close(): Promise<void> };
  /** Closed in this order after the last answer. */
  readonly opened: readonly ({ close(): Promise<void> | void } | undefined)[];
}

/** After this time connections whose requests are still not answered are cut. */
const LAST_MS = 8_000;
const LOOK_MS = 50;

/**
 * The order in which an HTTP service stops: not ready any more; after the delay no new connections, and open requests finish (Nest
 * closes the server between the last two hooks); then what the service opened closes.
 */
export class HttpShutdown
  implements OnModuleDestroy, BeforeApplicationShutdown, OnApplicationShutdown
{
  private readonly timers: NodeJS.Timeout[] = [];

  constructor(private readonly parts: HttpShutdownOptions) {}

  /** Before the hooks of all others, whatever they wait for. */
  onModuleDestroy(): void {
    this.parts.stopping();
    // A client that is told does not send its next request on a connection that is about to close.
    this.server.prependListener('request', (_: IncomingMessage, response: ServerResponse) => {
      response.shouldKeepAlive = false;
    });
  }

  async beforeApplicationShutdown(): Promise<void> {
    await sleep(this.parts.delayMs);
    await this.parts.streams?.close();
    const { server } = this;
    const closeIdle = (): void => {
      server.closeIdleConnections();
    };
    // Node stops looking for overdue requests once its server closes: one that never arrives would hold it open for ever.
    const cut = setTimeout(() => {
      server.closeAllConnections();
    }, LAST_MS);
    this.timers.push(setInterval(closeIdle, LOOK_MS).unref(), cut.unref());
  }

  /** @throws the first error, after everything was closed */
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
