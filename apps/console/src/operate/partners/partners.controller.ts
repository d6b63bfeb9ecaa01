import { Controller, Get, Param, Query, UseInterceptors } from '@nestjs/common';
import { ApiExtraModels, ApiParam } from '@nestjs/swagger';
import { CallbackStore, PartnerStore } from '#libs/db';
import { Answers, Fails, Operation } from '#libs/openapi';
import { ForOperators } from '../../auth/audience.js';
import { REFUSALS } from '../refusals.js';
import { PAGE_SIZE } from '../schema.js';
import { PartnerViews } from './partner-views.js';
import { CallbackBody, PartnerBody, PartnersBody, partnerSummary } from './partner.bodies.js';
import { PARTNER_ID, partnerIdOf, PartnersQuery } from './partner.requests.js';

@Controller('api/operate/partners')
@ForOperators('viewer')
@UseInterceptors(REFUSALS)
@ApiExtraModels(CallbackBody)
export class PartnersController {
  constructor(
    private readonly partners: PartnerStore,
    private readonly callbacks: CallbackStore,
    private readonly views: PartnerViews,
  ) {}

  @Get()
  @Operation('The partners', 'By name, page by page; all, or those with a part in it.')
  @Answers(200, 'The partners.', PartnersBody)
  @Fails(400, 'The request is malformed; `field` says where.', 'BAD_REQUEST')
  async list(@Query() { after, name }: PartnersQuery): Promise<PartnersBody> {
    const { entries, next = null } = await this.partners.page({ limit: PAGE_SIZE, after }, name);
    const callbacks = await this.callbacks.findAll(entries.map(({ partnerId }) => partnerId));
    const items = entries.map((partner) =>
      partnerSummary({ partner, callback: callbacks.get(partner.partnerId) }),
    );
    return { items, next };
  }

  @Get(':partner')
  @Operation('One partner', 'All but its secrets.')
  @ApiParam(PARTNER_ID)
  @Answers(200, 'The partner.', PartnerBody)
  @Fails(404, 'There is no such partner.', 'PARTNER_UNKNOWN')
  show(@Param('partner') id: string): Promise<PartnerBody> {
    return this.views.partner(partnerIdOf(id));
  }
}
