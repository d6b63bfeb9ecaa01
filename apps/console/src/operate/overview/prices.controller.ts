import { Body, Controller, HttpCode, Inject, Post, UseInterceptors } from '@nestjs/common';
import { Answers, Fails, Operation } from '#libs/openapi';
import { CLOCK, type Clock } from '#libs/platform';
import { ActionResultBody, actionResult } from '../../approvals/approval.dto.js';
import {
  type ConsoleOperator,
  CurrentOperator,
  ForOperators,
  FreshSignIn,
} from '../../auth/audience.js';
import { REFUSALS } from '../refusals.js';
import { AcceptPriceDto } from './overview.dto.js';
import { PriceActions } from './price-actions.js';

@Controller('api/operate/prices')
@ForOperators('operator')
@UseInterceptors(REFUSALS)
export class PricesController {
  constructor(
    private readonly actions: PriceActions,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Post('accept')
  @HttpCode(200)
  @FreshSignIn()
  @Operation(
    'Accept a held price',
    'Redemptions and snapshots go on with the next reading near it, within a minute. Waits for a second operator if APPROVAL_ABOVE_USD is set.',
  )
  @Answers(200, 'Done, or asked of a second operator.', ActionResultBody)
  @Fails(400, 'The request is malformed; `field` says where.', 'BAD_REQUEST')
  @Fails(404, 'There is no such stake set.', 'STAKE_SET_UNKNOWN')
  @Fails(
    409,
    'No price is held, or one that is not near; or it is asked for already.',
    ...['PRICE_NOT_HELD', 'PRICE_MOVED', 'APPROVAL_PENDING'],
  )
  async accept(
    @Body() dto: AcceptPriceDto,
    @CurrentOperator() operator: ConsoleOperator,
  ): Promise<ActionResultBody> {
    const performed = await this.actions.perform(operator, dto);
    return actionResult(performed, operator.subject, this.clock.nowMs());
  }
}
