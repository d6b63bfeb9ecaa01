import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { SnapshotsModule } from '../snapshots/snapshots.module.js';
import { ApiChecks, RedisCheck } from './api-checks.js';
import { ApiMetrics } from './api-metrics.js';
import { ApiShutdown } from './api-shutdown.js';

/** Whether the api can serve, how it serves, and how it stops. */
@Module({
  imports: [AuthModule, SnapshotsModule],
  providers: [ApiChecks, RedisCheck, ApiMetrics, ApiShutdown],
})
export class HealthModule {}
