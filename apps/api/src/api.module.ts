import { type DynamicModule, Module } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { CLOCK, type Clock, HealthModule, HealthRegistry, MetricsModule } from '#libs/platform';
import { Database, IndexStore, SnapshotStore } from '#libs/db';
import { type ApiSettings } from './api.env.js';
import { SignatureDebuggerController } from './debug/signature-debugger.controller.js';
import { DocsController } from './docs/docs.controller.js';
import { ApiChecks } from './health/api-checks.js';
import { Shutdown } from './shutdown.js';
import { SnapshotsController } from './snapshots/snapshots.controller.js';
import { SnapshotsService } from './snapshots/snapshots.service.js';

export interface ApiParts {
  readonly settings: ApiSettings;
  /** With the role that only reads. */
  readonly database: Database;
  readonly clock: Clock;
}

@Module({})
export class ApiModule {
  static register({ settings, database, clock }: ApiParts): DynamicModule {
    return {
      module: ApiModule,
      imports: [HealthModule, MetricsModule.register('api')],
      controllers: [
        SnapshotsController,
        DocsController,
        ...(settings.signatureDebugger ? [SignatureDebuggerController] : []),
      ],
      providers: [
        { provide: CLOCK, useValue: clock },
        { provide: Database, useValue: database },
        {
          provide: SnapshotsService,
          useFactory: () => new SnapshotsService(new SnapshotStore(database), clock, settings),
        },
        {
          provide: ApiChecks,
          inject: [HealthRegistry],
          useFactory: (health: HealthRegistry) => {
            const { indexMaxLagSeconds } = settings;
            return new ApiChecks(health, {
              index: new IndexStore(database),
              clock,
              indexMaxLagSeconds,
            });
          },
        },
        {
          provide: Shutdown,
          inject: [ApiChecks, HttpAdapterHost],
          useFactory: (checks: ApiChecks, host: HttpAdapterHost) =>
            new Shutdown(checks, database, { host, delayMs: settings.shutdownDelayMs }),
        },
      ],
    };
  }
}
