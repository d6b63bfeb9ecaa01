import { Module } from '@nestjs/common';
import { SnapshotsModule } from '../snapshots/snapshots.module.js';
import { DaysController } from './days.controller.js';
import { SealedDays } from './sealed-days.service.js';

/** Sealed days and their proofs. */
@Module({ imports: [SnapshotsModule], controllers: [DaysController], providers: [SealedDays] })
export class DaysModule {}
