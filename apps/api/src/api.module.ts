import { type DynamicModule, Module } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { CLOCK, type Clock } from '#libs/platform';
import { DocsModule, HealthRegistry, HttpShutdown, ManagementModule } from '#libs/service';
import { type RedisLink } from '#libs/cache';
import { Database, IndexStore } from '#libs/db';
import { type ApiSettings } from './api.env.js';
import { SignatureDebuggerController } from './debug/signature-debugger.controller.js';
import { openApi } from './docs/openapi.js';
import { ApiChecks } from './health/api-checks.js';

export interface ApiParts {
  readonly settings: ApiSettings;
  /** With the role that only reads. */
  readonly database: Database;
  readonly clock: Clock;
  /** Absent without REDIS_URL. */
  readonly redis: RedisLink | undefined;
}

@Module({})
export class ApiModule {
  static register({ settings, database, clock, redis }: ApiParts): DynamicModule {
    return {
      module: ApiModule,
      imports: [
        ManagementModule.register({ app: 'api', address: managementOf(settings) }),
        DocsModule.register(openApi, 'Send the API key in X-API-KEY.'),
      ],
      controllers: [...(settings.signatureDebugger ? [SignatureDebuggerController] : [])],
      providers: [
        { provide: CLOCK, useValue: clock },
        { provide: Database, useValue: database },
        {
          provide: ApiChecks,
          inject: [HealthRegistry],
          useFactory: (health: HealthRegistry) => {
            const { indexMaxLagSeconds } = settings;
            return new ApiChecks(health, {
              index: new IndexStore(database),
              clock,
              indexMaxLagSeconds,
              redis,
            });
          },
        },
        {
          provide: HttpShutdown,
          inject: [ApiChecks, HttpAdapterHost],
          useFactory: (checks: ApiChecks, host: HttpAdapterHost) =>
            new HttpShutdown({
              host,
              stopping: () => {
                checks.stopping();
              },
              delayMs: settings.shutdownDelayMs,
              opened: [redis, database],
            }),
        },
      ],
    };
  }
}

function managementOf({ apiManagementPort: port, apiHost: host }: ApiSettings) {
  return port === undefined ? undefined : { port, host };
}
