import { type Server } from 'node:http';
import {
  Injectable,
  type BeforeApplicationShutdown,
  type DynamicModule,
  Module,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Database } from '#libs/db';
import { PartnerCallbacksModule } from '#libs/partner-sdk';
import { type Clock, type Logger } from '#libs/platform';
import { HealthModule, HealthRegistry, PROCESS_CHECK } from '#libs/service';
import { type PartnerSettings } from './partner.env.js';
import { logCalls } from './points/call-log.js';
import { createGame } from './points/game.js';
import { SeenRequests } from './store/seen-requests.js';

/** Milliseconds after which a shutdown closes connections whose requests are not answered yet. */
const LAST_MS = 8_000;

/**
 * Reports ready while the database answers. A shutdown first answers open calls, and then closes the database
 * connections.
 */
@Injectable()
class Shutdown implements BeforeApplicationShutdown, OnApplicationShutdown {
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

interface PartnerModuleOptions {
  readonly settings: PartnerSettings;
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
}

@Module({})
export class PartnerModule {
  static register({ settings, database, clock, logger }: PartnerModuleOptions): DynamicModule {
    return {
      module: PartnerModule,
      imports: [
        HealthModule.register(),
        PartnerCallbacksModule.forRoot({
          apiKey: settings.partnerApiKey,
          sharedSecret: settings.partnerSharedSecret,
          replayStore: new SeenRequests(database),
          clock,
          ...logCalls(logger),
          handlers: createGame(database, logger),
        }),
      ],
      providers: [{ provide: Database, useValue: database }, Shutdown],
    };
  }
}
