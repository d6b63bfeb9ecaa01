import { type DynamicModule, Module } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Database } from '#libs/db';
import { PartnerCallbacksModule } from '#libs/partner-sdk';
import { type Clock, type Logger } from '#libs/platform';
import { HealthModule, HealthRegistry } from '#libs/service';
import { type PartnerSettings } from './partner.env.js';
import { logCalls } from './points/call-log.js';
import { createGame } from './points/game.js';
import { Shutdown } from './shutdown.js';
import { SeenRequests } from './store/seen-requests.js';

export interface PartnerModuleOptions {
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
        HealthModule,
        PartnerCallbacksModule.forRoot({
          apiKey: settings.partnerApiKey,
          sharedSecret: settings.partnerSharedSecret,
          replayStore: new SeenRequests(database),
          clock,
          ...logCalls(logger),
          handlers: createGame(database, logger),
        }),
      ],
      providers: [
        { provide: Database, useValue: database },
        {
          provide: Shutdown,
          inject: [HealthRegistry, HttpAdapterHost],
          useFactory: (health: HealthRegistry, host: HttpAdapterHost) =>
            new Shutdown(health, host, database),
        },
      ],
    };
  }
}
