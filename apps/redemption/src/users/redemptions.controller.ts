import {
  Body,
  Controller,
  Get,
  Headers,
  HttpCode,
  Param,
  Post,
  Query,
  Res,
  UseGuards,
} from '@nestjs/common';
import { type FastifyReply } from 'fastify';
import { RedemptionStore } from '#libs/db';
import { type Address, parseUuidV7, type UuidV7 } from '#libs/domain';
import { SessionGuard, Wallet } from '../auth/session.guard.js';
import { countField, nameField, requireFields, requireIdempotencyKey } from '../http/fields.js';
import { UserError } from '../http/user.error.js';
import { CancelService } from './cancel.service.js';
import { CreationService } from './creation.service.js';
import { type Page, PagePipe } from './page.pipe.js';
import { RedeemLimitGuard } from './redeem-limit.guard.js';
import { type RedemptionBody } from './redemption-body.js';
import { RedemptionPresenter } from './redemption-presenter.js';

interface RedemptionsBody {
  readonly redemptions: readonly RedemptionBody[];
  /** `before` of the next page; null at the end. */
  readonly next: string | null;
}

/** A wallet's redemptions; those of others are not there. See `docs/wire/redemption.md`. */
@Controller('api/redemptions')
@UseGuards(SessionGuard)
export class RedemptionsController {
  constructor(
    private readonly creation: CreationService,
    private readonly cancelling: CancelService,
    private readonly store: RedemptionStore,
    private readonly presenter: RedemptionPresenter,
  ) {}

  @Post()
  @UseGuards(RedeemLimitGuard)
  async create(
    @Wallet() wallet: Address,
    @Headers('idempotency-key') header: unknown,
    @Body() body: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RedemptionBody> {
    const key = requireIdempotencyKey(header);
    const fields = requireFields(body);
    const request = { partner: nameField(fields, 'partner'), points: countField(fields, 'points') };
    const { redemption, isNew } = await this.creation.create(wallet, request, key);
    void reply.code(isNew ? 201 : 200);
    return isNew
      ? this.presenter.present({ redemption, place: null })
      : this.read(wallet, redemption.id);
  }

  @Get()
  async list(
    @Wallet() wallet: Address,
    @Query(PagePipe) { limit, before }: Page,
  ): Promise<RedemptionsBody> {
    const found = await this.store.list(wallet, limit + 1, before);
    const page = found.slice(0, limit);
    const redemptions = await Promise.all(page.map((one) => this.presenter.present(one)));
    return { redemptions, next: found.length > limit ? (redemptions.at(-1)?.id ?? null) : null };
  }

  @Get(':id')
  async read(@Wallet() wallet: Address, @Param('id') id: string): Promise<RedemptionBody> {
    const stored = await this.store.find(wallet, requireId(id));
    if (stored === undefined) throw notFound();
    return this.presenter.present(stored);
  }

  @Post(':id/cancel')
  @HttpCode(202)
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
