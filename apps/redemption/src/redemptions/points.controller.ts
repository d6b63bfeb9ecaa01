import { Controller, Get, Ip, Query } from '@nestjs/common';
import { ApiOperation, ApiProperty } from '@nestjs/swagger';
import { IsString } from 'class-validator';
import { type Address } from '#libs/domain';
import { Answers, Fails } from '#libs/openapi';
import { MayBeAbsent } from '#libs/service';
import { ForSignedIn, RequestLimits, Wallet } from '../auth/admission.js';
import { UserError } from '../http/user.error.js';
import { PartnerDirectory, type PartnerEntry, PointsService } from '../partner/partners.js';
import {
  AllPointsBody,
  pointsRangeBody,
  type PointsOfPartnerBody,
  quoteBody,
  refusalBody,
} from './quote.dto.js';
import { QuoteService } from './quote.service.js';

/** The longest that the answer waits for one of several partners. */
const WITHIN_MS = 3_000;

class PointsQuery {
  @ApiProperty({
    type: 'string',
    required: false,
    description: 'Id or name of one partner, in any capitals. Without it: all partners.',
  })
  @MayBeAbsent()
  @IsString({ message: '$property must be the id or the name of a partner, given once.' })
  readonly partner?: string;
}

/** All that a page shows of a wallet's points, in one request. */
@Controller('api/points')
@ForSignedIn()
export class PointsController {
  constructor(
    private readonly directory: PartnerDirectory,
    private readonly points: PointsService,
    private readonly quotes: QuoteService,
    private readonly limits: RequestLimits,
  ) {}

  @Get()
  @ApiOperation({
    summary: 'The wallet’s points with all partners',
    description:
      'Asks each partner once, at the same time, and counts as one read of points. Of several partners, one that does not answer within three seconds has the problem PARTNER_UNAVAILABLE; ask for it alone to wait longer.',
  })
  @Answers(200, 'The points, by the partners’ names.', AllPointsBody)
  @Fails(400, 'The request is malformed; `field` says where.', 'BAD_REQUEST')
  @Fails(404, 'No such partner.', 'NOT_FOUND')
  async read(
    @Wallet() wallet: Address,
    @Query() { partner }: PointsQuery,
    @Ip() clientAddress: string,
  ): Promise<AllPointsBody> {
    await this.limits.points(wallet, clientAddress);
    const limit = partner === undefined ? { withinMs: WITHIN_MS } : {};
    const entries =
      partner === undefined ? await this.directory.list() : [await this.directory.require(partner)];
    const partners = entries.map((entry) => this.pointsWith(entry, wallet, limit));
    return { wallet, partners: await Promise.all(partners) };
  }

  private async pointsWith(
    entry: PartnerEntry,
    wallet: Address,
    limit: { readonly withinMs?: number },
  ): Promise<PointsOfPartnerBody> {
    const { partnerId: id, partnerName: name } = entry.callback;
    const partner = { id, name };
    const [range, answer] = await Promise.all([
      this.quotes.range(wallet, entry),
      this.points.read(entry, wallet, limit).catch(userError),
    ]);
    const limits = pointsRangeBody(partner, range);
    if (answer instanceof UserError) {
      return { partner, points: null, problem: refusalBody(answer), limits, quote: null };
    }
    const points = Number(answer.points);
    const most = Math.min(points, limits.maxPoints);
    const quote =
      most === 0
        ? null
        : quoteBody(partner, most, await this.quotes.quote(wallet, entry, BigInt(most)));
    return { partner, points, problem: null, limits, quote };
  }
}

/** @throws the error itself if it is not about the partner */
function userError(error: unknown): UserError {
  if (error instanceof UserError) return error;
  throw error;
}
