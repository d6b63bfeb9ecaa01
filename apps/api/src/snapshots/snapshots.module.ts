import { Module } from '@nestjs/common';
import { Database, SnapshotStore } from '#libs/db';
import { provide } from '#libs/service';
import { StandbyReads } from '../standbys/standby-reads.js';
import { SnapshotReader } from './snapshot-reader.js';
import { SnapshotsRoute } from './snapshots.route.js';

@Module({
  providers: [provide(SnapshotStore, Database), StandbyReads, SnapshotReader, SnapshotsRoute],
  exports: [SnapshotReader, StandbyReads],
})
export class SnapshotsModule {}
