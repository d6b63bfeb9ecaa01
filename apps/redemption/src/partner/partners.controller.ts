import { Controller, Get, Ip, Param } from '@nestjs/common';
import { ApiOperation, ApiParam } from '@nestjs/swagger';
import { type Address } from '#libs/domain';
import { Answers, Fails, FailsForNow } from '#libs/openapi';
import { ForSignedIn, RequestLimits, Wallet } from '../auth/admission.js';
import { partnerBody, PartnersBody, PointsBody } from './partner.dto.js';
import { PartnerDirectory, PointsService } from './partners.js';

@Controller('api/partners')
@ForSignedIn()
export class PartnersController {
  constructor(
    private readonly directory: PartnerDirectory,
    private readonly points: PointsService,
    private readonly limits: RequestLimits,
  ) {}

  @Get()
  @ApiOperation({
    summary: 'The partners that can be redeemed with',
    description: 'By name, the paused ones too.',
  })
  @Answers(200, 'The partners.', PartnersBody)
  async list(): Promise<PartnersBody> {
    const entries = await this.directory.list();
    return { partners: entries.map(({ callback }) => partnerBody(callback)) };
  }

  @Get(':partner/points')
  @ApiOperation({
    summary: 'The wallet’s points',
    description: 'Asks the partner; its answer is not kept.',
  })
  @ApiParam({
    name: 'partner',
    description: 'Id or name, in any capitals.',
    schema: { type: 'string' },
  })
  @Answers(200, 'The points.', PointsBody)
  @Fails(404, 'No such partner, or no such player.', 'NOT_FOUND', 'USER_NOT_FOUND')
  @Fails(502, 'The partner’s answer could not be used.', 'PARTNER_ERROR')
  @FailsForNow(503, 'No answer for now.', 'PARTNER_UNAVAILABLE', 'SERVICE_UNAVAILABLE')
  async read(
    @Param('partner') partner: string,
    @Wallet() wallet: Address,
    @Ip() clientAddress: string,
  ): Promise<PointsBody> {
    await this.limits.points(wallet, clientAddress);
    const entry = await this.directory.require(partner);
    const { points, chain } = await this.points.read(entry, wallet);
    const { partnerId: id, partnerName: name } = entry.callback;
    return { partner: { id, name }, wallet, points: Number(points), chain };
  }
}
