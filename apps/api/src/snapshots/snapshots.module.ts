import { Module } from '@nestjs/common';
import { Database, SnapshotStore } from '#libs/db';
import { provide } from '#libs/service';
import { SnapshotReader } from './snapshot-reader.js';
import { SnapshotsRoute } from './snapshots.route.js';

@Module({
  providers: [provide(SnapshotStore, Database), SnapshotReader, SnapshotsRoute],
  exports: [SnapshotReader],
})
export class SnapshotsModule {}
