import { Global, Module } from '@nestjs/common';
import { HealthController } from './health.controller.js';
import { HealthRegistry } from './health.registry.js';

/** Serves `/health/live`, `/health/ready` and `/health/accepting`; other modules inject HealthRegistry and register their checks. */
@Global()
@Module({
  controllers: [HealthController],
  providers: [HealthRegistry],
  exports: [HealthRegistry],
})
export class HealthModule {}
