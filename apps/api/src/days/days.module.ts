import { Module } from '@nestjs/common';
import { SnapshotsModule } from '../snapshots/snapshots.module.js';
import { DaysController } from './days.controller.js';
import { OlderProofs } from './older-proofs.service.js';
import { SealedDays } from './sealed-days.service.js';

/** Sealed days and their proofs. */
@Module({
  imports: [SnapshotsModule],
  controllers: [DaysController],
  providers: [SealedDays, OlderProofs],
})
export class DaysModule {}
