import { type Server } from 'node:http';
import { type BeforeApplicationShutdown, type OnApplicationShutdown } from '@nestjs/common';
import { type HttpAdapterHost } from '@nestjs/core';
import { type Database } from '#libs/db';
import { type HealthRegistry, PROCESS_CHECK } from '#libs/service';

/** After this time connections whose requests are still not answered are cut. */
const LAST_MS = 8_000;

/** Ready while the database answers. At the end: open calls are answered first, then the database's connections close. */
export class Shutdown implements BeforeApplicationShutdown, OnApplicationShutdown {
  private stopping = false;

  constructor(
    health: HealthRegistry,
    private readonly host: HttpAdapterHost,
    private readonly database: Database,
  ) {
    health.register(PROCESS_CHECK, () => (this.stopping ? { reason: 'is shutting down' } : {}));
    health.register('database', async () => {
      await database.query({ name: 'game_ready', text: 'SELECT 1' });
      return {};
    });
  }

  beforeApplicationShutdown(): void {
    this.stopping = true;
    const server = this.host.httpAdapter.getHttpServer() as Server;
    setTimeout(() => {
      server.closeAllConnections();
    }, LAST_MS).unref();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.database.close();
  }
}
