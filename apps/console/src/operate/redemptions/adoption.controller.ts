import { Controller, Get, UseInterceptors } from '@nestjs/common';
import { ApiSchema } from '@nestjs/swagger';
import { Database } from '#libs/db';
import { Answers, Field, Operation } from '#libs/openapi';
import { AdoptRedemptions, redemptionsWithoutMac } from '#libs/operations';
import { ForOperators } from '../../auth/audience.js';
import { OperateKeys } from '../operate-keys.js';
import { REFUSALS } from '../refusals.js';
import { listedBody, ListedRedemptionBody } from './redemption.bodies.js';

@ApiSchema({ name: 'UnsealedRedemptions' })
class UnsealedBody {
  @Field.ListOf(ListedRedemptionBody, 'Oldest first.') readonly items!: ListedRedemptionBody[];
}

/** Open redemptions that were written without EVIDENCE_KEY. Needs EVIDENCE_KEY. */
@Controller('api/operate/unsealed-redemptions')
@ForOperators('viewer')
@UseInterceptors(REFUSALS)
export class AdoptionController {
  constructor(
    private readonly database: Database,
    private readonly keys: OperateKeys,
  ) {}

  @Get()
  @Operation(
    'Open redemptions without the MAC of the service',
    'Nothing is paid by them before they are adopted.',
  )
  @Answers(200, 'The redemptions.', UnsealedBody)
  async list(): Promise<UnsealedBody> {
    const seal = this.keys.seal(AdoptRedemptions.spec.command);
    const foreign = await redemptionsWithoutMac(this.database, seal);
    const items = foreign.map(({ redemption, partnerName }) =>
      listedBody(redemption, new Map([[redemption.partner, partnerName]])),
    );
    return { items };
  }
}
