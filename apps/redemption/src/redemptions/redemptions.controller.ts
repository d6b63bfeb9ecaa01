import {
  Body,
  Controller,
  createParamDecorator,
  type ExecutionContext,
  Get,
  HttpCode,
  Param,
  Post,
  Query,
  Res,
  UseGuards,
} from '@nestjs/common';
import { ApiHeader, ApiOperation, ApiParam, ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsInt, IsString, Matches, Max, Min } from 'class-validator';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { RedemptionStore } from '#libs/db';
import { type Address, parseUuidV7, type UuidV7 } from '#libs/domain';
import { Answers, Fails, FailsForNow } from '#libs/openapi';
import { MayBeAbsent } from '#libs/service';
import { ForSignedIn, RedeemLimitGuard, Wallet } from '../auth/admission.js';
import { COUNT } from '../http/schema.js';
import { UserError } from '../http/user.error.js';
import { CancelService } from './cancel.service.js';
import { CreationService } from './creation.service.js';
import { RedemptionBody, RedemptionsBody } from './redemption.dto.js';
import { RedemptionPresenter } from './redemption-presenter.js';

const WHOLE = { message: '$property must be a whole number above 0.' };
const LIMIT = { message: '$property must be a whole number from 1 to 100, given once.' };

const LEAST = /^(?:0|[1-9][0-9]{0,77})$/;

class NewRedemption {
  @ApiProperty({
    type: 'string',
    minLength: 1,
    maxLength: 255,
    description: 'Id or name, in any capitals.',
  })
  // Control characters and lone surrogates can be neither shown nor hashed.
  @Matches(/^[^\p{Cc}\p{Cs}]{1,255}$/u, {
    message: '$property must be a text of 1 to 255 characters.',
  })
  readonly partner!: string;

  @ApiProperty({ ...COUNT, minimum: 1 })
  @Max(Number.MAX_SAFE_INTEGER, WHOLE)
  @Min(1, WHOLE)
  @IsInt(WHOLE)
  readonly points!: number;

  @ApiProperty({
    type: 'string',
    pattern: LEAST.source,
    required: false,
    description:
      'The fewest tokens, in the smallest unit: `amount` of the quote that was shown. Where it would be fewer, QUOTE_CHANGED and nothing is taken.',
  })
  @MayBeAbsent()
  @Matches(LEAST, {
    message: '$property must be a text of 1 to 78 digits, without zeros in front.',
  })
  readonly minAmount?: string;
}

/** A page of the list. A parameter that is given twice arrives as a list, and is refused. */
class PageQuery {
  @ApiProperty({
    type: 'integer',
    minimum: 1,
    maximum: 100,
    default: 20,
    required: false,
    description: 'How many at most.',
  })
  @Transform(({ value }) =>
    typeof value === 'string' && /^[1-9]\d{0,2}$/.test(value) ? Number(value) : (value as unknown),
  )
  @Max(100, LIMIT)
  @Min(1, LIMIT)
  @IsInt(LIMIT)
  readonly limit: number = 20;

  @ApiProperty({ type: 'string', required: false, description: '`next` of the page before.' })
  @Transform(({ value }) => (typeof value === 'string' && parseUuidV7(value)) ?? false)
  @MayBeAbsent()
  @IsString({ message: '$property must be the id of a redemption, given once.' })
  readonly before?: UuidV7;
}

/** The user's key for one redemption; a repeated request has the same key. @throws UserError 400 */
const IdempotencyKey = createParamDecorator((_: unknown, context: ExecutionContext): string => {
  const value = context.switchToHttp().getRequest<FastifyRequest>().headers['idempotency-key'];
  if (typeof value === 'string' && /^[\x21-\x7e]{1,255}$/.test(value)) return value;
  throw UserError.badRequest(
    'Idempotency-Key',
    'Idempotency-Key must be given once: 1 to 255 visible ASCII characters, a new one for each redemption.',
  );
});

const ID = { name: 'id', description: 'Of the redemption.', schema: { type: 'string' } } as const;
const BAD_REQUEST = ['The request is malformed; `field` says where.', 'BAD_REQUEST'] as const;
const NO_REDEMPTION = ['This wallet has no such redemption.', 'NOT_FOUND'] as const;

/** A wallet's own redemptions; those of other wallets are not found. See `docs/wire/redemption.md`. */
@Controller('api/redemptions')
@ForSignedIn()
export class RedemptionsController {
  constructor(
    private readonly creation: CreationService,
    private readonly cancelling: CancelService,
    private readonly store: RedemptionStore,
    private readonly presenter: RedemptionPresenter,
  ) {}

  @Post()
  @UseGuards(RedeemLimitGuard)
  @ApiOperation({
    summary: 'Redeem points',
    description:
      'Freezes points, price and tokens, and begins. The points are deducted next, without another request; watch the redemption until it is authorised.',
  })
  @ApiHeader({
    name: 'Idempotency-Key',
    required: true,
    description:
      'A new one for each redemption; the same one to repeat a request whose answer was lost.',
    schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
  })
  @Answers(200, 'The redemption that this key made before, as it is now.', RedemptionBody)
  @Answers(201, 'The new redemption.', RedemptionBody)
  @Fails(400, ...BAD_REQUEST)
  @Fails(404, 'No such partner, or no such player there.', 'NOT_FOUND', 'USER_NOT_FOUND')
  @FailsForNow(
    409,
    'Not now. Retry-After comes where waiting is known to help.',
    ...['INSUFFICIENT_POINTS', 'REDEMPTION_OPEN', 'PARTNER_PAUSED', 'PAYOUTS_UNAVAILABLE'],
    ...['PARTNER_BUDGET_SPENT', 'WALLET_BUDGET_SPENT', 'VOUCHER_COOL_DOWN'],
    ...['PRICE_UNAVAILABLE', 'PRICE_STALE', 'QUOTE_CHANGED', 'IDEMPOTENCY_IN_PROGRESS'],
  )
  @Fails(
    422,
    'Not with these points, or not with this key.',
    ...['INVALID_POINTS', 'TOO_FEW_POINTS', 'TOO_MANY_POINTS', 'TOO_FEW_TOKENS'],
    'IDEMPOTENCY_CONFLICT',
  )
  @Fails(502, 'The partner’s answer could not be used.', 'PARTNER_ERROR')
  @FailsForNow(
    503,
    'No answer for now.',
    ...['PARTNER_UNAVAILABLE', 'SERVICE_UNAVAILABLE', 'REDEMPTIONS_PAUSED'],
  )
  async create(
    @Wallet() wallet: Address,
    @IdempotencyKey() key: string,
    @Body() { partner, points, minAmount }: NewRedemption,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RedemptionBody> {
    const least = minAmount === undefined ? undefined : BigInt(minAmount);
    const request = { partner, points: BigInt(points), minAmount: least };
    const { redemption, isNew } = await this.creation.create(wallet, request, key);
    void reply.code(isNew ? 201 : 200);
    return isNew
      ? this.presenter.present({ redemption, place: null })
      : this.read(wallet, redemption.id);
  }

  @Get()
  @ApiOperation({ summary: 'The wallet’s redemptions', description: 'Newest first.' })
  @Answers(200, 'A page of them.', RedemptionsBody)
  @Fails(400, ...BAD_REQUEST)
  async list(
    @Wallet() wallet: Address,
    @Query() { limit, before }: PageQuery,
  ): Promise<RedemptionsBody> {
    const found = await this.store.list(wallet, limit + 1, before);
    return this.presenter.presentPage(found, limit);
  }

  @Get(':id')
  @ApiOperation({
    summary: 'One redemption',
    description: 'With its voucher while that can be claimed.',
  })
  @ApiParam(ID)
  @Answers(200, 'The redemption.', RedemptionBody)
  @Fails(404, ...NO_REDEMPTION)
  async read(@Wallet() wallet: Address, @Param('id') id: string): Promise<RedemptionBody> {
    const stored = await this.store.find(wallet, requireId(id));
    if (stored === undefined) throw notFound();
    return this.presenter.present(stored);
  }

  @Post(':id/cancel')
  @HttpCode(202)
  @ApiOperation({
    summary: 'Cancel a redemption',
    description:
      'A wish: once a voucher is out, the chain decides whether it was claimed before it was cancelled.',
  })
  @ApiParam(ID)
  @Answers(202, 'The redemption as it is now.', RedemptionBody)
  @Fails(404, ...NO_REDEMPTION)
  @FailsForNow(
    409,
    'It cannot be cancelled now. Retry-After comes with NOT_YET_CANCELLABLE.',
    ...['FINAL', 'NEEDS_OPERATOR', 'NOT_RESTORABLE', 'NOT_YET_CANCELLABLE'],
    'TOO_LATE_TO_CANCEL',
  )
  @FailsForNow(503, 'No answer for now.', 'SERVICE_UNAVAILABLE', 'REDEMPTIONS_PAUSED')
  async cancel(@Wallet() wallet: Address, @Param('id') id: string): Promise<RedemptionBody> {
    const stored = await this.cancelling.cancel(wallet, requireId(id));
    if (stored === undefined) throw notFound();
    return this.presenter.present(stored);
  }
}

function requireId(text: string): UuidV7 {
  const id = parseUuidV7(text);
  if (id === undefined) throw notFound();
  return id;
}

function notFound(): UserError {
  return UserError.notFound('You have no such redemption.');
}
