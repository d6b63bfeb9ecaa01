import { Inject, Injectable, Module } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { HealthRegistry, HttpShutdown, type HttpShutdownOptions } from '#libs/service';
import { AuthModule } from '../auth/auth.module.js';
import { RESOURCES_TO_CLOSE } from '../connections.module.js';
import { SnapshotsModule } from '../snapshots/snapshots.module.js';
import { ApiChecks, RedisCheck } from './api-checks.js';
import { ApiMetrics } from './api-metrics.js';

@Injectable()
class ApiShutdown extends HttpShutdown {
  constructor(
    host: HttpAdapterHost,
    checks: ApiChecks,
    health: HealthRegistry,
    @Inject(RESOURCES_TO_CLOSE) opened: HttpShutdownOptions['opened'],
  ) {
    const stopping = (): void => {
      checks.stopping();
    };
    super({ host, stopping, health, opened });
  }
}

@Module({
  imports: [AuthModule, SnapshotsModule],
  providers: [ApiChecks, RedisCheck, ApiMetrics, ApiShutdown],
})
export class HealthModule {}
