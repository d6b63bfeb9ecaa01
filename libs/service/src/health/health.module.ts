import { type DynamicModule, Global, Module } from '@nestjs/common';
import { HealthController } from './health.controller.js';
import { HealthRegistry } from './health.registry.js';

/** Serves `/health/live`, `/health/ready` and `/health/accepting`; other modules inject HealthRegistry and register their checks. */
@Global()
@Module({
  controllers: [HealthController],
  providers: [HealthRegistry],
  exports: [HealthRegistry],
})
export class HealthModule {
  /** The registry alone, for a service whose health is served elsewhere. */
  static withoutRoutes(): DynamicModule {
    return {
      module: HealthChecks,
      global: true,
      providers: [HealthRegistry],
      exports: [HealthRegistry],
    };
  }
}

@Module({})
class HealthChecks {}
