import { Body, Controller, Get, HttpCode, Post, UseInterceptors } from '@nestjs/common';
import { ApiOperation, ApiProperty, ApiSchema } from '@nestjs/swagger';
import { Database } from '#libs/db';
import { Answers, Fails, FailsAnywhere } from '#libs/openapi';
import { adoptRedemptions, foreignRedemptions } from '#libs/operations';
import {
  type ConsoleOperator,
  CurrentOperator,
  ForOperators,
  FreshSignIn,
} from '../../auth/audience.js';
import { OperateKeys } from '../operate-keys.js';
import { RefusalsInterceptor } from '../refusals.interceptor.js';
import { COUNT } from '../schema.js';
import { listedBody, ListedRedemptionBody } from './redemption.bodies.js';
import { AdoptDto } from './redemption.requests.js';

@ApiSchema({ name: 'UnsealedRedemptions' })
class UnsealedBody {
  @ApiProperty({ type: [ListedRedemptionBody], description: 'Oldest first.' })
  readonly items!: ListedRedemptionBody[];
}

@ApiSchema({ name: 'Adopted' })
class AdoptedBody {
  @ApiProperty({ ...COUNT, description: 'The others have moved on, or bear the MAC already.' })
  readonly adopted!: number;
}

const COMMAND = 'redemption adopt';

/** Open redemptions that were written without EVIDENCE_KEY; this console needs it for both. */
@Controller('api/operate/unsealed-redemptions')
@ForOperators('viewer')
@FailsAnywhere()
@UseInterceptors(RefusalsInterceptor)
export class AdoptionController {
  constructor(
    private readonly database: Database,
    private readonly keys: OperateKeys,
  ) {}

  @Get()
  @ApiOperation({
    summary: 'Open redemptions without the MAC of the service',
    description: 'Nothing is paid by them before they are adopted.',
  })
  @Answers(200, 'The redemptions.', UnsealedBody)
  async list(): Promise<UnsealedBody> {
    const foreign = await foreignRedemptions(this.database, this.keys.seal(COMMAND));
    const items = foreign.map(({ redemption, partnerName }) =>
      listedBody(redemption, new Map([[redemption.partner, partnerName]])),
    );
    return { items };
  }

  @Post('adopt')
  @HttpCode(200)
  @ForOperators('admin')
  @FreshSignIn()
  @ApiOperation({ summary: 'Adopt them', description: 'Those that are as they were seen.' })
  @Answers(200, 'How many were adopted.', AdoptedBody)
  @Fails(400, 'The request is malformed; `field` says where.', 'BAD_REQUEST')
  async adopt(
    @Body() { redemptions }: AdoptDto,
    @CurrentOperator() { actor }: ConsoleOperator,
  ): Promise<AdoptedBody> {
    const seal = this.keys.seal(COMMAND);
    const seen = new Map(redemptions.map(({ id, version }) => [id, version]));
    const foreign = await foreignRedemptions(this.database, seal);
    const asSeen = foreign.filter(({ redemption: { id, version } }) => seen.get(id) === version);
    return { adopted: await adoptRedemptions(this.database, seal, asSeen, actor) };
  }
}
