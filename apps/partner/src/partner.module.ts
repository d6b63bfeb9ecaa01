import { type DynamicModule, Module } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Database } from '#libs/db';
import { CLOCK, type Clock, HealthModule, HealthRegistry, type Logger } from '#libs/platform';
import { PartnerSettings } from './partner.env.js';
import { GAME_LOGGER, PointsController } from './points/points.controller.js';
import { Shutdown } from './shutdown.js';
import { SeenRequests } from './store/seen-requests.js';

export interface PartnerParts {
  readonly settings: PartnerSettings;
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
}

@Module({})
export class PartnerModule {
  static register({ settings, database, clock, logger }: PartnerParts): DynamicModule {
    return {
      module: PartnerModule,
      imports: [HealthModule],
      controllers: [PointsController],
      providers: [
        { provide: PartnerSettings, useValue: settings },
        { provide: Database, useValue: database },
        { provide: CLOCK, useValue: clock },
        { provide: GAME_LOGGER, useValue: logger },
        { provide: SeenRequests, useFactory: () => new SeenRequests(database) },
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
