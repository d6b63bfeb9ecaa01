import { Body, Controller, Get, HttpCode, Inject, Post, Query, UseGuards } from '@nestjs/common';
import { Database } from '#libs/db';
import { type Logger } from '#libs/platform';
import { CallGuard } from '../http/call.guard.js';
import {
  type Confirmation,
  CONFIRMATION,
  type Deduction,
  DEDUCTION,
  POINTS_QUERY,
  type Revert,
  REVERT,
} from './bodies.js';
import { BodyPipe } from './body.pipe.js';
import { confirmRedemption } from './confirm-redemption.js';
import { deductPoints } from './deduct-points.js';
import { readFields } from './fields.js';
import { type Balance, readPoints } from './read-points.js';
import { revertDeduction, type Reverted } from './revert-deduction.js';

/** The Nest token of the Logger. */
export const GAME_LOGGER = Symbol('GameLogger');

type Success<T = object> = { readonly success: true } & T;

/** The four endpoints of the interface, part B; each is one function. */
@Controller()
@UseGuards(CallGuard)
export class PointsController {
  constructor(
    private readonly database: Database,
    @Inject(GAME_LOGGER) private readonly logger: Logger,
  ) {}

  @Get('get-points-by-address')
  async read(@Query() query: Record<string, unknown>): Promise<Success<Balance>> {
    const { address } = readFields(query, POINTS_QUERY);
    return { success: true, ...(await readPoints(this.database, address)) };
  }

  @Post('deduct-points-by-address')
  @HttpCode(200)
  async deduct(
    @Body(new BodyPipe(DEDUCTION)) deduction: Deduction,
  ): Promise<Success<{ partnerTransactionId: string }>> {
    const partnerTransactionId = await deductPoints(this.database, deduction);
    const { svcRedemptionId } = deduction;
    this.logger.info({ svcRedemptionId, partnerTransactionId }, 'Points deducted');
    return { success: true, partnerTransactionId };
  }

  @Post('revert-deduct-points')
  @HttpCode(200)
  async revert(@Body(new BodyPipe(REVERT)) revert: Revert): Promise<Success<Reverted>> {
    const reverted = await revertDeduction(this.database, revert);
    const { svcRedemptionId } = revert;
    this.logger.info({ svcRedemptionId, ...reverted }, 'Points given back');
    return { success: true, ...reverted };
  }

  @Post('confirm-redemption')
  @HttpCode(200)
  async confirm(@Body(new BodyPipe(CONFIRMATION)) confirmation: Confirmation): Promise<Success> {
    await confirmRedemption(this.database, confirmation);
    const { svcRedemptionId, status } = confirmation;
    this.logger.info({ svcRedemptionId, status }, 'Redemption confirmed');
    return { success: true };
  }
}
