import { Global, Module } from '@nestjs/common';
import { ApprovalStore, Database } from '#libs/db';
import { provide } from '#libs/service';
import { ApprovalService } from './approval.service.js';
import { ApprovalsController } from './approvals.controller.js';

/** Two-person approval. Modules register their actions that may need a second operator with `ApprovalService`. */
@Global()
@Module({
  controllers: [ApprovalsController],
  providers: [ApprovalService, provide(ApprovalStore, Database)],
  exports: [ApprovalService],
})
export class ApprovalsModule {}
