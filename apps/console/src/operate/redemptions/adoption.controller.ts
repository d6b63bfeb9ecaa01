import { Body, Controller, Get, HttpCode, Inject, Post, UseInterceptors } from '@nestjs/common';
import { ApiSchema } from '@nestjs/swagger';
import { Database } from '#libs/db';
import { Answers, Fails, Field, Operation } from '#libs/openapi';
import { redemptionsWithoutMac } from '#libs/operations';
import { CLOCK, type Clock } from '#libs/platform';
import { ActionResultBody, actionResult } from '../../approvals/approval.dto.js';
import {
  type ConsoleOperator,
  CurrentOperator,
  ForOperators,
  FreshSignIn,
} from '../../auth/audience.js';
import { OperateKeys } from '../operate-keys.js';
import { REFUSALS } from '../refusals.js';
import { ADOPT, AdoptionActions } from './adoption-actions.js';
import { listedBody, ListedRedemptionBody } from './redemption.bodies.js';
import { AdoptDto } from './redemption.requests.js';

@ApiSchema({ name: 'UnsealedRedemptions' })
class UnsealedBody {
  @Field.ListOf(ListedRedemptionBody, 'Oldest first.') readonly items!: ListedRedemptionBody[];
}

/** Open redemptions that were written without EVIDENCE_KEY, and their adoption. Both routes need EVIDENCE_KEY. */
@Controller('api/operate/unsealed-redemptions')
@ForOperators('viewer')
@UseInterceptors(REFUSALS)
export class AdoptionController {
  constructor(
    private readonly database: Database,
    private readonly keys: OperateKeys,
    private readonly actions: AdoptionActions,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Get()
  @Operation(
    'Open redemptions without the MAC of the service',
    'Nothing is paid by them before they are adopted.',
  )
  @Answers(200, 'The redemptions.', UnsealedBody)
  async list(): Promise<UnsealedBody> {
    const foreign = await redemptionsWithoutMac(this.database, this.keys.seal(ADOPT));
    const items = foreign.map(({ redemption, partnerName }) =>
      listedBody(redemption, new Map([[redemption.partner, partnerName]])),
    );
    return { items };
  }

  @Post('adopt')
  @HttpCode(200)
  @ForOperators('admin')
  @FreshSignIn()
  @Operation(
    'Adopt them',
    'Those that are as they were seen; with a set value once another operator has approved it.',
  )
  @Answers(200, 'Done, or asked of a second operator.', ActionResultBody)
  @Fails(400, 'The request is malformed; `field` says where.', 'BAD_REQUEST')
  @Fails(409, 'It is asked for already.', 'APPROVAL_PENDING')
  async adopt(
    @Body() dto: AdoptDto,
    @CurrentOperator() operator: ConsoleOperator,
  ): Promise<ActionResultBody> {
    const performed = await this.actions.perform(operator, dto);
    return actionResult(performed, operator.subject, this.clock.nowMs());
  }
}
