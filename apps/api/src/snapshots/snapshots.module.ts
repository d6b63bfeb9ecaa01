import { Module } from '@nestjs/common';
import { Database, SnapshotStore } from '#libs/db';
import { provide } from '#libs/service';
import { SnapshotReader } from './snapshot-reader.js';
import { SnapshotsRoute } from './snapshots.route.js';
import { StakeSets } from './stake-sets.js';

@Module({
  providers: [provide(SnapshotStore, Database), SnapshotReader, StakeSets, SnapshotsRoute],
  exports: [StakeSets],
})
export class SnapshotsModule {}
