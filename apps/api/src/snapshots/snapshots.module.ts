import { Module } from '@nestjs/common';
import { Database } from '#libs/db';
import { CLOCK } from '#libs/platform';
import { provide } from '#libs/service';
import { ApiSettings } from '../api.env.js';
import { StandbyReads } from '../standbys/standby-reads.js';
import { Standbys } from '../standbys/standbys.js';
import { AuthModule } from '../auth/auth.module.js';
import { BatchRoute } from './batch.route.js';
import { SnapshotReader } from './snapshot-reader.js';
import { SnapshotsRoute } from './snapshots.route.js';
import { StakeSets } from './stake-sets.js';

@Module({
  imports: [AuthModule],
  providers: [
    provide(StandbyReads, Database, Standbys, ApiSettings, CLOCK),
    SnapshotReader,
    StakeSets,
    SnapshotsRoute,
    BatchRoute,
  ],
  exports: [StakeSets],
})
export class SnapshotsModule {}
