import { Global, Module } from '@nestjs/common';
import { ApprovalStore, Database } from '#libs/db';
import { provide } from '#libs/service';
import { ApprovalService } from './approval.service.js';
import { ApprovalsController } from './approvals.controller.js';

/** Actions that need a second operator. The modules that have such actions register them with the service. */
@Global()
@Module({
  controllers: [ApprovalsController],
  providers: [ApprovalService, provide(ApprovalStore, Database)],
  exports: [ApprovalService],
})
export class ApprovalsModule {}
