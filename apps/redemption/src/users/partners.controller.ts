import { Controller, Get, Ip, Param, UseGuards } from '@nestjs/common';
import { type Address } from '#libs/domain';
import { SessionGuard, Wallet } from '../auth/session.guard.js';
import { RequestLimits } from '../http/request-limits.js';
import { PartnerDirectory } from '../partner/partner-directory.js';
import { type PartnerBody, partnerBody } from './partner-body.js';
import { PointsService } from './points.service.js';
import { requirePartner } from './require-partner.js';

interface PointsBody {
  readonly partner: { readonly id: string; readonly name: string };
  readonly wallet: Address;
  readonly points: number;
  readonly chain: string;
}

/** Who can be redeemed with, and what there is to redeem. */
@Controller('api/partners')
@UseGuards(SessionGuard)
export class PartnersController {
  constructor(
    private readonly directory: PartnerDirectory,
    private readonly points: PointsService,
    private readonly limits: RequestLimits,
  ) {}

  @Get()
  async list(): Promise<{ readonly partners: readonly PartnerBody[] }> {
    const entries = await this.directory.list();
    return { partners: entries.map(({ callback }) => partnerBody(callback)) };
  }

  @Get(':partner/points')
  async read(
    @Param('partner') partner: string,
    @Wallet() wallet: Address,
    @Ip() clientAddress: string,
  ): Promise<PointsBody> {
    await this.limits.points(wallet, clientAddress);
    const entry = await requirePartner(this.directory, partner);
    const { points, chain } = await this.points.read(entry, wallet);
    const { partnerId: id, partnerName: name } = entry.callback;
    return { partner: { id, name }, wallet, points: Number(points), chain };
  }
}
