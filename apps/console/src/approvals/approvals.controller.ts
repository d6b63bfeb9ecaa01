import { Controller, Get, HttpCode, Inject, Param, Post, Query } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { type Approval, ApprovalClosedError, OwnApprovalError } from '#libs/db';
import { Answers, Fails, Operation } from '#libs/openapi';
import { CLOCK, type Clock } from '#libs/platform';
import { HttpProblem } from '#libs/service';
import {
  type ConsoleOperator,
  CurrentOperator,
  ForOperators,
  FreshSignIn,
} from '../auth/audience.js';
import * as Input from '../http/inputs.js';
import { approvalBody, ApprovalBody, ApprovalsBody, ApprovalsQuery } from './approval.dto.js';
import { ApprovalService } from './approval.service.js';

const MOST = 100;
const ID = { name: 'id', schema: Input.NUMBER_SCHEMA, description: 'Its id.' };

@Controller('api/operate/approvals')
@ForOperators('viewer')
export class ApprovalsController {
  constructor(
    private readonly approvals: ApprovalService,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Get()
  @Operation(
    'What waits for a second operator',
    'At most 100: the open ones, the first to expire first, or all, newest first.',
  )
  @Answers(200, 'The requests.', ApprovalsBody)
  @Fails(400, 'The request is malformed; `field` says where.', 'BAD_REQUEST')
  async list(
    @Query() { which = 'open', before }: ApprovalsQuery,
    @CurrentOperator() { subject }: ConsoleOperator,
  ): Promise<ApprovalsBody> {
    const page = { limit: MOST, before: before === undefined ? undefined : BigInt(before) };
    const found = await (which === 'open'
      ? this.approvals.listOpen(MOST)
      : this.approvals.list(page));
    return { approvals: found.map((one) => this.bodyOf(one, subject)) };
  }

  @Post(':id/approve')
  @HttpCode(200)
  @ForOperators('operator')
  @FreshSignIn()
  @Operation(
    'Approve and do it',
    'By another operator than the one who asked, with the role of the action.',
  )
  @ApiParam(ID)
  @Answers(200, 'It was done, or refused: `outcome` says it.', ApprovalBody)
  @Fails(404, 'There is no such request.', 'NOT_FOUND')
  @Fails(
    409,
    'It cannot be decided so.',
    'APPROVAL_OF_ANOTHER',
    'APPROVAL_CLOSED',
    'APPROVAL_REQUESTER',
  )
  approve(
    @Param('id') id: string,
    @CurrentOperator() operator: ConsoleOperator,
  ): Promise<ApprovalBody> {
    return this.decided(operator, () => this.approvals.approve(idOf(id), operator));
  }

  @Post(':id/refuse')
  @HttpCode(200)
  @ForOperators('operator')
  @Operation('Refuse it', 'The operator who asked for it takes it back in the same way.')
  @ApiParam(ID)
  @Answers(200, 'It will not be done.', ApprovalBody)
  @Fails(404, 'There is no such request.', 'NOT_FOUND')
  @Fails(409, 'It can no longer be decided.', 'APPROVAL_CLOSED')
  refuse(
    @Param('id') id: string,
    @CurrentOperator() operator: ConsoleOperator,
  ): Promise<ApprovalBody> {
    return this.decided(operator, () => this.approvals.refuse(idOf(id), operator));
  }

  private async decided(
    { subject }: ConsoleOperator,
    decide: () => Promise<Approval>,
  ): Promise<ApprovalBody> {
    try {
      return this.bodyOf(await decide(), subject);
    } catch (error) {
      if (error instanceof OwnApprovalError || error instanceof ApprovalClosedError) {
        throw new HttpProblem(409, error.message, { code: error.code });
      }
      throw error;
    }
  }

  private bodyOf(approval: Approval, subject: string): ApprovalBody {
    return approvalBody(approval, subject, this.clock.nowMs());
  }
}

function idOf(text: string): bigint {
  if (!Input.NUMBER_PATTERN.test(text)) throw new HttpProblem(404, 'There is no such request.');
  return BigInt(text);
}
