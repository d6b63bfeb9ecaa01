import { setTimeout as sleep } from 'node:timers/promises';
import { type BeforeApplicationShutdown, type OnApplicationShutdown } from '@nestjs/common';
import { type HttpAdapterHost } from '@nestjs/core';
import { type Server } from 'node:http';
import { type ApiChecks } from './health/api-checks.js';

/** After this time connections whose requests are still not answered are cut. */
const LAST_MS = 8_000;

/**
 * The order of stopping: not ready any more; after the delay no new connections, and open requests finish (Nest closes the
 * server between the two hooks); then the connections to Redis and to the database close.
 */
export class Shutdown implements BeforeApplicationShutdown, OnApplicationShutdown {
  constructor(
    private readonly checks: ApiChecks,
    private readonly opened: readonly ({ close(): Promise<void> | void } | undefined)[],
    private readonly options: { host: HttpAdapterHost; delayMs: number },
  ) {}

  async beforeApplicationShutdown(): Promise<void> {
    this.checks.stopping();
    await sleep(this.options.delayMs);
    // Node stops looking for overdue requests once its server closes: one that never arrives would hold it open for ever.
    const server = this.options.host.httpAdapter.getHttpServer() as Server;
    setTimeout(() => {
      server.closeAllConnections();
    }, LAST_MS).unref();
  }

  async onApplicationShutdown(): Promise<void> {
    for (const one of this.opened) await one?.close();
  }
}
