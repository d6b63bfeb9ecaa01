import { Injectable } from '@nestjs/common';
import { CallbackStore, PartnerStore, PartnerUnknownError } from '#libs/db';
import { type PartnerId } from '#libs/domain';
import { partnerBody, type PartnerBody } from './partner.bodies.js';

@Injectable()
export class PartnerViews {
  constructor(
    private readonly partners: PartnerStore,
    private readonly callbacks: CallbackStore,
  ) {}

  /** @throws PartnerUnknownError */
  async partner(id: PartnerId): Promise<PartnerBody> {
    const partner = await this.partners.find(id);
    if (partner === undefined) throw new PartnerUnknownError();
    return partnerBody({ partner, callback: await this.callbacks.find(id) });
  }
}
