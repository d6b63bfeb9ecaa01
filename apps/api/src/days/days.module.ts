import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { SnapshotsModule } from '../snapshots/snapshots.module.js';
import { DaysController } from './days.controller.js';
import { DayExportController } from './export/day-export.controller.js';
import { DayExports } from './export/day-exports.service.js';
import { OlderProofs } from './older-proofs.service.js';
import { SealedDays } from './sealed-days.service.js';

@Module({
  imports: [AuthModule, SnapshotsModule],
  controllers: [DaysController, DayExportController],
  providers: [SealedDays, OlderProofs, DayExports],
})
export class DaysModule {}
