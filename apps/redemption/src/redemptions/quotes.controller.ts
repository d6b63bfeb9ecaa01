import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOperation, ApiParam } from '@nestjs/swagger';
import { type Address } from '#libs/domain';
import { Answers, Fails } from '#libs/openapi';
import { ForSignedIn, Wallet } from '../auth/admission.js';
import { PartnerDirectory, type PartnerEntry } from '../partner/partners.js';
import { type PartnerName } from '../partner/partner.dto.js';
import { PointsRangeBody, pointsRangeBody, QuoteBody, quoteBody, QuoteQuery } from './quote.dto.js';
import { QuoteService } from './quote.service.js';

const PARTNER = {
  name: 'partner',
  description: 'Id or name, in any capitals.',
  schema: { type: 'string' },
} as const;

/** Figures that a page shows before it asks for a redemption. No partner is called, and nothing is promised. */
@Controller('api/partners/:partner')
@ForSignedIn()
@Fails(404, 'No such partner.', 'NOT_FOUND')
export class QuotesController {
  constructor(
    private readonly directory: PartnerDirectory,
    private readonly quotes: QuoteService,
  ) {}

  @Get('quote')
  @ApiOperation({
    summary: 'What points come to now',
    description:
      'As a redemption of this moment would be, and what it would be refused for. Whether the points are there is not asked of the partner.',
  })
  @ApiParam(PARTNER)
  @Answers(200, 'The quote.', QuoteBody)
  @Fails(400, 'The request is malformed; `field` says where.', 'BAD_REQUEST')
  async quote(
    @Param('partner') partner: string,
    @Query() { points }: QuoteQuery,
    @Wallet() wallet: Address,
  ): Promise<QuoteBody> {
    const entry = await this.directory.require(partner);
    const quoted = await this.quotes.quote(wallet, entry, BigInt(points));
    return quoteBody(nameOf(entry), points, quoted);
  }

  @Get('limits')
  @ApiOperation({
    summary: 'How many points can be redeemed now',
    description: 'By the partner’s limits, the budgets of the day and what the vault can pay.',
  })
  @ApiParam(PARTNER)
  @Answers(200, 'The range, and what would refuse any number of points.', PointsRangeBody)
  async limits(
    @Param('partner') partner: string,
    @Wallet() wallet: Address,
  ): Promise<PointsRangeBody> {
    const entry = await this.directory.require(partner);
    return pointsRangeBody(nameOf(entry), await this.quotes.range(wallet, entry));
  }
}

function nameOf({ callback }: PartnerEntry): PartnerName {
  return { id: callback.partnerId, name: callback.partnerName };
}
