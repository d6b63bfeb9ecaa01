import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { BatchRoute } from './batch.route.js';
import { SnapshotsRoute } from './snapshots.route.js';
import { StakeSets } from './stake-sets.js';

@Module({
  imports: [AuthModule],
  providers: [StakeSets, SnapshotsRoute, BatchRoute],
  exports: [StakeSets],
})
export class SnapshotsModule {}
